import type { ContainmentReport, Dimension } from '../types.ts';

interface Hint {
  readonly text: RegExp;
  /** Given only where the containment enforces this: elsewhere the cause is another one. */
  readonly because: Dimension;
  readonly sentence: string;
  /** In place of it where an allow-list is open. */
  readonly proxied?: string;
  /** Only where a path was opened for writing. */
  readonly opened?: true;
}

/** Error texts of known programs whose cause is the containment and not the program. One sentence each, for the model. */
const HINTS: readonly Hint[] = [
  {
    text: /EAI_AGAIN|ENOTFOUND|Could not resolve (?:host|proxy)|Temporary failure (?:in name resolution|resolving)|Name or service not known|Network is unreachable|ENETUNREACH|no such host|Failed to establish a new connection|Unable to connect to .* network/i,
    because: 'network',
    sentence: 'The network is off inside this sandbox; a command that needs it has to be asked for as one that does.',
    proxied:
      'The network of this run is an allow-list behind a proxy (HTTP_PROXY, HTTPS_PROXY); programs that do not use it reach nothing and can look no name up.',
  },
  {
    text: /No usable sandbox|Failed to move to new namespace|clone\(\) failed.*user namespace|zygote_host_impl_linux/i,
    because: 'user_ns_nesting',
    sentence: "A browser can't build its own sandbox here; it needs a run with nested user namespaces, or its flag --no-sandbox.",
  },
  {
    text: /Read-only file system|EROFS/,
    because: 'fs_write',
    sentence: 'Only the workspaces, HOME and TMPDIR can be written; hooks and the configuration of git, editors and agents are read-only.',
  },
  {
    text: /Device or resource busy|EBUSY/,
    because: 'fs_write',
    sentence: 'A protected file or a folder that holds one is pinned in its place and cannot be replaced or renamed here.',
  },
  {
    text: /Read-only file system|EROFS|Device or resource busy|EBUSY/,
    because: 'fs_write',
    opened: true,
    sentence:
      'A path that was opened is opened itself and not its folder. Right in HOME, in /etc and in the Workspace it can be written (`cat new > PATH`, `cp`) and not replaced (`sed -i`, `mv`, `ln -f`).',
  },
  {
    text: /File exists|EEXIST/,
    because: 'fs_write',
    opened: true,
    sentence:
      'A path that was opened for writing is there before the command starts, empty where there was nothing: `mkdir -p` takes it as it is, and `ln` can make no link there.',
  },
  {
    text: /could not read (?:Username|Password) for|terminal prompts disabled|Permission denied \(publickey/,
    because: 'fs_read',
    sentence:
      "The person's keys and credential helpers are hidden from a run; name the ones it needs, so that they can be asked for: `GIT_SSH_COMMAND='ssh -i ~/.ssh/KEY' git ...`, or `git -c credential.helper=store ...` for what is kept in ~/.git-credentials.",
  },
  {
    text: /(?:unshare|setns|mount|bwrap|io_uring_setup|perf_event_open|keyctl)\b.*Operation not permitted|PermissionError: \[Errno 1\]/,
    because: 'seccomp',
    sentence: 'This sandbox forbids some system calls (mounts, namespaces, kernel keys, io_uring, tracing of other processes).',
  },
  {
    text: /Cannot connect to the Docker daemon|docker\.sock|podman\.sock|Failed to connect to bus|System has not been booted with systemd/i,
    because: 'unix_sockets',
    sentence: "Sockets of the host (containers, systemd, D-Bus) don't exist inside this sandbox.",
  },
  {
    text: /\/tmp\/\S*: Permission denied|(?:EACCES|Errno 13)\b.*\/tmp\//,
    because: 'tmp_noexec',
    sentence: 'Nothing in /tmp can be started in a container; put programs into the workspace, or point TMPDIR to a folder there.',
  },
  {
    text: /ReserveShadowMemoryRange failed|Shadow memory range/i,
    because: 'memory',
    sentence: 'The sanitizer reserves more address space than the memory limit of this run allows.',
  },
];

export function hintsFor(report: ContainmentReport, result: { readonly output: string; readonly failed: boolean }): string[] {
  if (!result.failed || result.output.length === 0) return [];
  const proxied = report.dimensions.network.by?.includes('allow-list') === true;
  const opened = report.notes.some((note) => note.startsWith('opened for this run: ') && note.endsWith('(read and write)'));
  const holds = ({ because, text, opened: needed }: Hint): boolean =>
    report.dimensions[because].state !== 'not_enforced' && (needed === undefined || opened) && text.test(result.output);
  return HINTS.filter(holds).map((hint) => (proxied && hint.proxied !== undefined ? hint.proxied : hint.sentence));
}
