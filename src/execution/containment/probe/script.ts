/** What the probe's script is told about the host, to look for it inside. */
export interface Bait {
  /** In Writ's environment outside; must not be in anybody's inside. */
  readonly canary: string;
  /** A TCP listener of Writ's on the host's loopback. */
  readonly port: number;
  /** Name of an abstract socket that Writ listens on. */
  readonly abstract: string;
  /** A file in the Writ home. */
  readonly hidden: string;
  /** The scratch Workspace, a repository. */
  readonly scratch: string;
  /** Our own namespaces, by kind. */
  readonly namespaces: Readonly<Record<string, string>>;
}

export const NAMESPACES = ['user', 'pid', 'net', 'ipc', 'uts', 'mnt'] as const;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Prints one `name value` line a fact.
 *
 * The attempts must do no harm where containment fails, since that is what they look for: the script stops before the first one
 * when it finds itself in the host's namespaces, new files have names of their own and are removed again, and of what exists
 * nothing is written: `: >> FILE` opens a file for writing and leaves it as it is.
 */
export function probeScript(bait: Bait): string {
  const own = `.writ-probe-${bait.canary}`;
  const create = (folder: string): string => quote(`: > ${quote(`${folder}/${own}`)} && rm ${quote(`${folder}/${own}`)}`);
  const open = (file: string): string => quote(`: >> ${quote(file)}`);
  const git = `${bait.scratch}/.git`;
  return `
attempt() { if ( eval "$2" ) >/dev/null 2>&1 </dev/null; then echo "$1 done"; else echo "$1 refused"; fi; }
${NAMESPACES.map((name) => `ns_${name}=$(readlink /proc/self/ns/${name}); echo "ns_${name} $ns_${name}"`).join('\n')}
if [[ $ns_user == ${quote(bait.namespaces['user'] ?? '')} || $ns_mnt == ${quote(bait.namespaces['mnt'] ?? '')} ]]; then echo 'finished uncontained'; exit; fi
while read -r name value rest; do
  case $name in Uid:) echo "uid $value";; CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "\${name%:} $value";; esac
done < /proc/self/status
attempt write_root ${create('')}
attempt write_system ${create('/usr')}
attempt write_etc ${create('/etc')}
attempt write_dev ${create('/dev')}
attempt proc_sys ${open('/proc/sys/vm/swappiness')}
attempt write_hook ${create(`${git}/hooks`)}
attempt move_git ${quote(`mv ${quote(git)} ${quote(`${git}-moved`)} && mv ${quote(`${git}-moved`)} ${quote(git)}`)}
attempt loopback 'exec 9<>/dev/tcp/127.0.0.1/${bait.port}'
attempt abstract_socket 'while read -r line; do case $line in *${bait.abstract}*) exit 0;; esac; done < /proc/net/unix; false'
attempt canary 'grep -qa ${bait.canary} /proc/1/environ /proc/self/environ'
attempt shadow '[[ -e /etc/shadow ]]'
attempt hidden ${quote(`[[ -e ${quote(bait.hidden)} ]]`)}
if [[ -x /usr/bin/unshare ]]; then attempt nested_userns '/usr/bin/unshare --user /bin/true'; else echo 'nested_userns unknown'; fi
attempt write_workspace ${create(bait.scratch)}
attempt write_home ': > ~/${own} && rm ~/${own}'
attempt write_tmp ': > "$TMPDIR/${own}" && rm "$TMPDIR/${own}"'
echo 'finished yes'
`;
}
