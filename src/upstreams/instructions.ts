import type { Logger } from '../kernel/logger.ts';
import { hardenInstructions } from './hardening/harden-others.ts';

/** What a server says about how it is used, as models get it; undefined where it reads like an attack, which is said once. */
export function soundInstructions(server: string, given: string, logger: Logger): string | undefined {
  const hardened = hardenInstructions(given);
  if (hardened.type === 'accept') return hardened.text;
  const reason = hardened.type === 'reject' ? hardened.reason : hardened.flags.join(' ');
  if (hardened.type === 'flag' && !hardened.held) return hardened.text;
  logger.warn(`writ: the instructions of "${server}" are left out: ${reason}`);
  return undefined;
}
