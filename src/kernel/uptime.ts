import { uptime as osUptime } from 'node:os';
import { selfIdentity } from './self-identity.ts';

/** Time that nobody can set back: how long this machine has been up, time asleep included, and which boot that counts from. */
export interface Uptime {
  /** Empty where it can't be known; then all boots count as one. */
  readonly boot: string;
  readonly ms: number;
}

/** The same for every process of the machine. */
export function systemUptime(): () => Uptime {
  const boot = selfIdentity().boot_id ?? '';
  return () => ({ boot, ms: Math.round(osUptime() * 1000) });
}
