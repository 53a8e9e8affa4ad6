import { DEFAULT_VERDICTS } from '../kernel/config/types.ts';
import { type Effect, VERDICTS, type Verdict } from './types.ts';

/** DESIGN section 5. An operator may override every line but the last. */
const DEFAULTS: Readonly<Record<Effect, Verdict>> = { ...DEFAULT_VERDICTS, blocked: 'deny' };

export const defaultVerdict = (effect: Effect): Verdict => DEFAULTS[effect];

const RANK: Readonly<Record<Verdict, number>> = { allow: 0, contained: 1, prompt: 2, deny: 3 };

export const stricter = (a: Verdict, b: Verdict): boolean => RANK[a] > RANK[b];

/** The strictest of several; of none: allow. */
export function strictest(...verdicts: readonly Verdict[]): Verdict {
  return VERDICTS[verdicts.reduce((worst, verdict) => Math.max(worst, RANK[verdict]), 0)] ?? 'deny';
}
