import { readFileSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import type { ProcessIdentity } from '../types.ts';
import { isDead, readStat } from './proc.ts';

/**
 * What is known about the process behind an identity. Only OWNED is ever signalled.
 * GONE: it is dead, or its zombie waits for a parent. FOREIGN: it is dead and its number belongs to somebody else now.
 */
export type IdentityVerdict = 'OWNED' | 'GONE' | 'FOREIGN' | 'UNVERIFIABLE';

/** The same for as long as this process can live. */
const BOOT_ID = readBootId();

export function bootId(): string | undefined {
  return BOOT_ID ?? readBootId();
}

function readBootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** The identity of a living process; undefined when it is gone or can't be read. */
export function identify(pid: number): ProcessIdentity | undefined {
  const boot_id = bootId();
  const stat = readStat(pid);
  if (boot_id === undefined || typeof stat === 'string' || isDead(stat.state)) return undefined;
  return { boot_id, pid, start: stat.start };
}

export function judge(identity: ProcessIdentity): IdentityVerdict {
  const boot = bootId();
  if (boot === undefined) return 'UNVERIFIABLE';
  if (boot !== identity.boot_id) return 'GONE';
  const stat = readStat(identity.pid);
  if (stat === 'gone') return 'GONE';
  if (stat === 'hidden') return 'UNVERIFIABLE';
  if (stat.start !== identity.start) return 'FOREIGN';
  return isDead(stat.state) ? 'GONE' : 'OWNED';
}

/** Signals exactly that process, or nothing. False when there was nothing of ours to signal. */
export function signalOwned(identity: ProcessIdentity, signal: NodeJS.Signals): boolean {
  // 0 and negative numbers address groups, 1 is the host's init: never ours, whatever a record says.
  if (identity.pid <= 1 || judge(identity) !== 'OWNED') return false;
  try {
    process.kill(identity.pid, signal);
    return true;
  } catch (error) {
    // Gone this moment, or not ours to signal: whoever needs it dead sees that it isn't.
    if (errnoOf(error) === 'ESRCH' || errnoOf(error) === 'EPERM') return false;
    throw error;
  }
}
