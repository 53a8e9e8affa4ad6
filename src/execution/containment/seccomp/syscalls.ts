/**
 * What the filter refuses, by name, with the numbers of the two architectures (from the kernel's unistd tables). A name without
 * a number on an architecture doesn't exist there. ptrace is absent on purpose: sanitizers and debuggers need it, and the PID
 * namespace bounds what it can reach.
 */
export type Arch = 'x64' | 'arm64';

export interface Denied {
  readonly name: string;
  readonly x64?: number;
  readonly arm64?: number;
  readonly why: 'mounts' | 'namespaces' | 'keys' | 'kernel surface' | 'machine';
}

export const DENIED: readonly Denied[] = [
  { name: 'mount', x64: 165, arm64: 40, why: 'mounts' },
  { name: 'umount2', x64: 166, arm64: 39, why: 'mounts' },
  { name: 'pivot_root', x64: 155, arm64: 41, why: 'mounts' },
  { name: 'open_tree', x64: 428, arm64: 428, why: 'mounts' },
  { name: 'move_mount', x64: 429, arm64: 429, why: 'mounts' },
  { name: 'fsopen', x64: 430, arm64: 430, why: 'mounts' },
  { name: 'fsconfig', x64: 431, arm64: 431, why: 'mounts' },
  { name: 'fsmount', x64: 432, arm64: 432, why: 'mounts' },
  { name: 'fspick', x64: 433, arm64: 433, why: 'mounts' },
  { name: 'mount_setattr', x64: 442, arm64: 442, why: 'mounts' },
  { name: 'open_tree_attr', x64: 467, arm64: 467, why: 'mounts' },
  { name: 'setns', x64: 308, arm64: 268, why: 'namespaces' },
  { name: 'add_key', x64: 248, arm64: 217, why: 'keys' },
  { name: 'request_key', x64: 249, arm64: 218, why: 'keys' },
  { name: 'keyctl', x64: 250, arm64: 219, why: 'keys' },
  { name: 'bpf', x64: 321, arm64: 280, why: 'kernel surface' },
  { name: 'io_uring_setup', x64: 425, arm64: 425, why: 'kernel surface' },
  { name: 'io_uring_enter', x64: 426, arm64: 426, why: 'kernel surface' },
  { name: 'io_uring_register', x64: 427, arm64: 427, why: 'kernel surface' },
  { name: 'perf_event_open', x64: 298, arm64: 241, why: 'kernel surface' },
  { name: 'userfaultfd', x64: 323, arm64: 282, why: 'kernel surface' },
  { name: 'fanotify_init', x64: 300, arm64: 262, why: 'kernel surface' },
  { name: 'open_by_handle_at', x64: 304, arm64: 265, why: 'kernel surface' },
  { name: 'lookup_dcookie', x64: 212, arm64: 18, why: 'kernel surface' },
  { name: 'uselib', x64: 134, why: 'kernel surface' },
  { name: 'kexec_load', x64: 246, arm64: 104, why: 'machine' },
  { name: 'kexec_file_load', x64: 320, arm64: 294, why: 'machine' },
  { name: 'init_module', x64: 175, arm64: 105, why: 'machine' },
  { name: 'finit_module', x64: 313, arm64: 273, why: 'machine' },
  { name: 'delete_module', x64: 176, arm64: 106, why: 'machine' },
  { name: 'swapon', x64: 167, arm64: 224, why: 'machine' },
  { name: 'swapoff', x64: 168, arm64: 225, why: 'machine' },
  { name: 'reboot', x64: 169, arm64: 142, why: 'machine' },
  { name: 'acct', x64: 163, arm64: 89, why: 'machine' },
  { name: 'quotactl', x64: 179, arm64: 60, why: 'machine' },
  { name: 'quotactl_fd', x64: 443, arm64: 443, why: 'machine' },
  { name: 'syslog', x64: 103, arm64: 116, why: 'machine' },
  { name: 'iopl', x64: 172, why: 'machine' },
  { name: 'ioperm', x64: 173, why: 'machine' },
  { name: 'settimeofday', x64: 164, arm64: 170, why: 'machine' },
  { name: 'clock_settime', x64: 227, arm64: 112, why: 'machine' },
  { name: 'vhangup', x64: 153, arm64: 58, why: 'machine' },
];

/** Calls that are judged by an argument, or answered with another error. */
export const JUDGED = {
  x64: { clone: 56, clone3: 435, unshare: 272, socket: 41, ioctl: 16, chroot: 161 },
  arm64: { clone: 220, clone3: 435, unshare: 97, socket: 198, ioctl: 29, chroot: 51 },
} as const satisfies Record<Arch, Record<string, number>>;

/** AUDIT_ARCH_* of linux/audit.h. */
export const AUDIT_ARCH = { x64: 0xc000003e, arm64: 0xc00000b7 } as const satisfies Record<Arch, number>;

/** CLONE_NEW* of linux/sched.h. NEWTIME shares its bit with clone's exit signal, so that one is judged for unshare only. */
export const CLONE_NEW = 0x7e02_0000;
export const CLONE_NEWTIME = 0x80;

/** AF_UNIX, AF_INET, AF_INET6, AF_NETLINK. Others aren't bound by the network namespace (AF_VSOCK) or are kernel surface (AF_ALG). */
export const SOCKET_FAMILIES = [1, 2, 10, 16] as const;

/** TIOCSTI and TIOCLINUX type into a terminal. */
export const TERMINAL_IOCTLS = [0x5412, 0x541c] as const;

export const EPERM = 1;
export const ENOSYS = 38;
export const EAFNOSUPPORT = 97;
