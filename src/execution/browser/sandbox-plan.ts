import { existsSync } from 'node:fs';
import { bwrapOptions } from '../containment/bwrap-options.ts';
import type { Mount } from '../containment/mount.ts';
import { within } from '../containment/mount.ts';
import { seccompFilter } from '../containment/seccomp/filter.ts';
import { systemMounts } from '../containment/system-mounts.ts';
import type { SandboxPlan } from '../core-types.ts';
import type { Limits } from '../types.ts';

const MIB = 1024 * 1024;

/** For all pages of one browser together. Processes are counted as threads, of which each page has dozens. */
export const BROWSER_LIMITS: Limits = {
  memory_bytes: 3 * 1024 * MIB,
  pids: 3_000,
  cpus: 2,
  file_bytes: 256 * MIB,
  open_files: 4_096,
  disk_bytes: 256 * MIB,
};

/** Nobody's account: where Writ is root, the browser is neither root nor anybody who owns a file. */
const NOBODY = { uid: 65_534, gid: 65_534 } as const;

/** What a browser reads of /etc: fonts, certificates, where libraries are. No names of accounts, no hosts. */
const ETC = [
  'alternatives',
  'ca-certificates',
  'crypto-policies',
  'fonts',
  'ld.so.cache',
  'ld.so.conf',
  'ld.so.conf.d',
  'localtime',
  'os-release',
  'pki/tls/certs',
  'pki/ca-trust',
  'pki/nssdb',
  'ssl/certs',
  'chromium',
  'chromium.d',
];

/** The port of a context's proxy, inside. */
export const slotPort = (slot: number): number => 18_001 + slot;

/**
 * A sandbox for a browser and nothing else: system folders to read, memory to write in, no folder of anybody, no network but the sockets
 * that its supervisor serves. `inner`: it may make user namespaces, which its renderers' own sandbox is built of.
 */
export function browserPlan(input: {
  readonly bwrap: string;
  readonly chromium: string;
  readonly inner: boolean;
  readonly slots: number;
}): Pick<SandboxPlan, 'bwrap' | 'args' | 'env' | 'drop' | 'seccomp' | 'network' | 'limits'> {
  const root = process.getuid?.() === 0;
  const system = systemMounts();
  const folder = input.chromium.slice(0, input.chromium.lastIndexOf('/'));
  const shown = system.some((mount) => within(folder, mount.dest));
  const read = (path: string): Mount => ({ kind: 'bind', source: path, dest: path, access: 'read', optional: true });
  const tmpfs = (dest: string, size: number): Mount => ({ kind: 'tmpfs', dest, mode: '1777', size });
  const mounts: readonly Mount[] = [
    ...['/etc', '/sys', '/run', '/var'].map((dest): Mount => ({ kind: 'dir', dest })),
    ...system,
    ...(shown ? [] : [read(folder)]),
    ...ETC.map((name) => `/etc/${name}`)
      .filter(existsSync)
      .map(read),
    read('/var/cache/fontconfig'),
    { kind: 'dev', dest: '/dev' },
    tmpfs('/dev/shm', 1024 * MIB),
    { kind: 'remount_ro', dest: '/dev' },
    { kind: 'proc', dest: '/proc' },
    ...['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus', '/proc/fs'].filter(existsSync).map(read),
    read('/sys/devices/system/cpu'),
    tmpfs('/tmp', BROWSER_LIMITS.disk_bytes),
    { kind: 'remount_ro', dest: '/' },
  ];
  return {
    bwrap: input.bwrap,
    args: [...bwrapOptions({ mounts, pty: false, nested_userns: input.inner }), '--chdir', '/tmp'],
    env: { PATH: '/usr/bin:/bin', HOME: '/tmp', TMPDIR: '/tmp', LANG: 'C.UTF-8' },
    ...(root ? { drop: NOBODY } : {}),
    seccomp: seccompFilter(process.arch, input.inner),
    network: { loopback: Array.from({ length: input.slots }, (_, slot) => slotPort(slot)), ports: [] },
    limits: BROWSER_LIMITS,
  };
}
