import type { ApprovalRecord, Approvals, Decider } from '../approvals/types.ts';
import { toAppError } from '../kernel/errors.ts';
import type { Asker, Unreachable } from './types.ts';

/** A form without the word that has become due is shown again, but not for ever. */
const MOST_FORMS = 3;

/**
 * Asks the person at the other end of the call. Resolves with why that failed, or with undefined once the question is answered,
 * here or elsewhere.
 */
export async function askInCall(
  asker: Extract<Asker, { type: 'in_call' }>,
  first: ApprovalRecord,
  { approvals, by, signal }: { readonly approvals: Pick<Approvals, 'answer'>; readonly by: Decider; readonly signal: AbortSignal },
): Promise<Unreachable | undefined> {
  let record = first;
  for (let form = 0; form < MOST_FORMS; form++) {
    const reply = await asker.ask(record, signal).catch((thrown: unknown) => ({ unreachable: toAppError(thrown).message }));
    if ('unreachable' in reply) return reply;
    const answered = await approvals.answer(record.id, reply, by);
    if (answered.ok || answered.reason === 'already_decided' || answered.reason === 'expired') return undefined;
    if (answered.reason === 'operator_only') return { unreachable: 'only the operator can say yes to this' };
    if (answered.reason !== 'word') return { unreachable: 'the answer opens more than was asked for' };
    record = answered.record;
  }
  return { unreachable: 'the word that the card asks for was not typed' };
}
