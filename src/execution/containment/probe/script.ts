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
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Prints one `name value` line a fact. Each attempt is made for real with what bash itself can do, and leaves nothing behind
 * where it succeeds. Starts three programs at most: a probe of many would be slower than the runs it vouches for.
 */
export function probeScript(bait: Bait): string {
  return `
attempt() { if { eval "$2"; } >/dev/null 2>&1 </dev/null; then echo "$1 done"; else echo "$1 refused"; fi; }
for ns in user pid net ipc uts mnt; do echo "ns_$ns $(readlink /proc/self/ns/$ns)"; done
while read -r name value rest; do
  case $name in Uid:) echo "uid $value";; CapEff:|CapBnd:|NoNewPrivs:|Seccomp:) echo "\${name%:} $value";; esac
done < /proc/self/status
attempt write_root ': > /.writ-probe'
attempt write_system ': > /usr/.writ-probe'
attempt write_etc ': > /etc/passwd'
attempt write_dev ': > /dev/writ-probe'
attempt proc_sys 'v=$(< /proc/sys/vm/swappiness) && echo "$v" > /proc/sys/vm/swappiness'
attempt write_hook ': > .git/hooks/pre-commit'
attempt move_git 'mv .git moved && mv moved .git'
attempt loopback 'exec 9<>/dev/tcp/127.0.0.1/${bait.port}'
attempt abstract_socket 'while read -r line; do case $line in *${bait.abstract}*) exit 0;; esac; done < /proc/net/unix; false'
attempt canary 'grep -qa ${bait.canary} /proc/1/environ /proc/self/environ'
attempt shadow '[[ -e /etc/shadow ]]'
attempt writ_home ${quote(`[[ -e ${quote(bait.hidden)} ]]`)}
attempt host_process '[[ -e /proc/${process.pid}/comm && $(< /proc/${process.pid}/comm) != bash && $(< /proc/${process.pid}/comm) != bwrap ]]'
if [[ -x /usr/bin/unshare ]]; then attempt nested_userns '/usr/bin/unshare --user /bin/true'; else echo 'nested_userns unknown'; fi
attempt write_workspace ': > probe && rm probe'
attempt write_home ': > ~/.writ-probe && rm ~/.writ-probe'
attempt write_tmp ': > "$TMPDIR/writ-probe" && rm "$TMPDIR/writ-probe"'
echo 'finished yes'
`;
}
