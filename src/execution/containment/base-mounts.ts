import { existsSync, readdirSync } from 'node:fs';
import { GENERATED_AT } from './generated-files.ts';
import { look } from './look.ts';
import type { Mount } from './mount.ts';
import type { PrivateFolders } from './private-folders.ts';

/** Kernel settings and switches: root's files even without capabilities, if the run's uid is root's on the host. */
const PROC_READ_ONLY = ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'] as const;
/** What container runtimes hide: memory, keys, timers and hardware of the host. */
const PROC_HIDDEN_FILES = ['kcore', 'kmsg', 'keys', 'key-users', 'latency_stats', 'timer_list', 'timer_stats', 'sched_debug'] as const;
const SHARED_MEMORY_BYTES = 256 * 1024 * 1024;

const hide = (path: string): Mount => ({ kind: 'bind', source: '/dev/null', dest: path, access: 'read' });

/** /proc entries of this kernel that need a cover; those of `root` only where the run is root to file permissions on the host. */
export function procCovers(): { readonly everybody: readonly Mount[]; readonly root: readonly Mount[] } {
  const readOnly = PROC_READ_ONLY.filter(existsSync).map((path): Mount => ({ kind: 'bind', source: path, dest: path, access: 'read' }));
  const hidden = PROC_HIDDEN_FILES.map((name) => `/proc/${name}`).filter(existsSync);
  // Memory maps and addresses of the kernel (vmallocinfo, slabinfo, kpageflags ...): whatever this kernel shows to root alone.
  const forRoot = readdirSync('/proc')
    .map((name) => `/proc/${name}`)
    .filter((path) => !hidden.includes(path) && !PROC_READ_ONLY.some((one) => one === path))
    .filter((path) => {
      const stat = look(path);
      return stat?.isFile() === true && (stat.mode & 0o004) === 0;
    });
  return { everybody: [...readOnly, ...hidden.map(hide)], root: forRoot.map(hide) };
}

/** Everything but the person's own folders: system, devices, processes, scratch. */
export function baseMounts(input: {
  readonly system: readonly Mount[];
  readonly proc_covers: readonly Mount[];
  readonly folders: PrivateFolders;
  /** The snapshot of /etc. */
  readonly etc: string;
  readonly generated: string;
  /** Default true. */
  readonly shared_memory?: boolean;
}): readonly Mount[] {
  const { folders } = input;
  const generated = Object.entries(GENERATED_AT).map(
    ([name, dest]): Mount => ({ kind: 'bind', source: `${input.generated}/${name}`, dest, access: 'read' }),
  );
  return [
    // Made by name, since bubblewrap gives a parent it has to make itself the narrow mode of what goes into it.
    ...['/etc', '/sys', '/run', '/var', '/var/lib', '/var/cache', '/var/log'].map((dest): Mount => ({ kind: 'dir', dest })),
    ...input.system,
    { kind: 'bind', source: input.etc, dest: '/etc', access: 'read' },
    ...generated,
    { kind: 'dev', dest: '/dev' },
    ...(input.shared_memory === false ? [] : [{ kind: 'tmpfs', dest: '/dev/shm', mode: '1777', size: SHARED_MEMORY_BYTES } as const]),
    { kind: 'remount_ro', dest: '/dev' },
    { kind: 'proc', dest: '/proc' },
    ...input.proc_covers,
    // /sys stays away, but for the one part that counts processors.
    { kind: 'bind', source: '/sys/devices/system/cpu', dest: '/sys/devices/system/cpu', access: 'read', optional: true },
    { kind: 'symlink', target: '/run', dest: '/var/run' },
    { kind: 'bind', source: folders.tmp, dest: '/tmp', access: 'write' },
    { kind: 'symlink', target: '/tmp', dest: '/var/tmp' },
  ];
}

/** Last of all: the root that bubblewrap made is memory of the host; nobody may fill it or hang a name into it. */
export const SEAL: readonly Mount[] = [{ kind: 'remount_ro', dest: '/' }];
