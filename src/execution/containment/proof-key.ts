import { createHash } from 'node:crypto';
import { readFileSync, readlinkSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { ExecutionConfig } from '../core-types.ts';

/** Namespaces and confinement of this very process: a container, or a host that sandboxes Writ, may share a home with the host. */
const NAMESPACES = ['user', 'mnt', 'pid', 'net'] as const;
const CONFINEMENT = /^(?:CapEff|CapBnd|NoNewPrivs|Seccomp):.*$/gm;

/**
 * What a proof depends on and can be seen without making it again: the machine since its last start, who we are to its kernel,
 * this program, and the PATH whose refused entries the report names. Constant for the life of a process.
 */
export function ownStanding(config: ExecutionConfig): string {
  const standing = [
    config.version ?? '',
    // A build that was made anew under the same version.
    stampOf(fileURLToPath(import.meta.url)),
    textOf('/proc/sys/kernel/random/boot_id'),
    `${process.getuid?.()} ${process.getgid?.()}`,
    ...NAMESPACES.map((name) => readlinkSync(`/proc/self/ns/${name}`)),
    textOf('/proc/self/status').match(CONFINEMENT)?.join(' ') ?? '',
    textOf('/proc/self/attr/current'),
    config.host_env['PATH'] ?? '',
    config.shared_root ?? '',
  ];
  return createHash('sha256').update(JSON.stringify(standing)).digest('hex').slice(0, 32);
}

/** And this bubblewrap: the change time tells of a new mode or owner too. Looked at each time. */
export function proofKey(bwrap: string, standing: string): string {
  return `${standing} ${bwrap} ${stampOf(bwrap)}`;
}

function stampOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat ? `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}` : 'absent';
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // No such file, or no security module that would answer: that, too, is how this process stands.
    return '';
  }
}
