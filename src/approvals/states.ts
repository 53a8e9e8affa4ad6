import type { ApprovalState } from './types.ts';

/**
 * What may follow what. Every transition in the database is one compare-and-set along these arrows; whatever has none is final.
 * A yes that nobody took expires like a question that nobody answered.
 */
export const TRANSITIONS: Readonly<Record<ApprovalState, readonly ApprovalState[]>> = {
  pending: ['approved', 'denied', 'expired', 'withdrawn'],
  approved: ['used', 'expired'],
  denied: [],
  expired: [],
  withdrawn: [],
  used: [],
};

export function mayBecome(from: ApprovalState, to: ApprovalState): boolean {
  return TRANSITIONS[from].includes(to);
}
