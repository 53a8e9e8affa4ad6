import { type Mount, mountOptions } from './mount.ts';

export interface OptionsInput {
  readonly mounts: readonly Mount[];
  /** Set when the run is shown another uid than it has on the host. */
  readonly map?: { readonly uid: number; readonly gid: number } | undefined;
  readonly pty: boolean;
  readonly nested_userns: boolean;
  readonly host_network?: boolean;
}

/**
 * Everything for `--args FD` but the descriptors and the command. Each namespace is asked for by name: `--unshare-all` only
 * tries some of them and degrades in silence.
 */
export function bwrapOptions({ mounts, map, pty, nested_userns, host_network = false }: OptionsInput): readonly string[] {
  return [
    '--unshare-user',
    '--unshare-pid',
    '--unshare-ipc',
    '--unshare-uts',
    ...(host_network ? [] : ['--unshare-net']),
    '--unshare-cgroup-try',
    ...(nested_userns ? [] : ['--disable-userns']),
    ...(map ? ['--uid', String(map.uid), '--gid', String(map.gid)] : []),
    '--hostname',
    'sandbox',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    // A terminal of its own keeps Ctrl-C working only without a new session; in pipe mode there must be no terminal to reach.
    ...(pty ? [] : ['--new-session']),
    ...mounts.flatMap(mountOptions),
  ];
}
