import type { ApprovalRecord } from '../../approvals/types.ts';
import type { Asker } from '../../gate/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isObject, type Members } from '../../kernel/json-rpc/message.ts';
import type { Answer, Question } from '../requester.ts';
import { readForm } from './form.ts';

export type InCallAsker = Extract<Asker, { type: 'in_call' }>;

export interface InCallParts {
  /** How long the client can be kept waiting. */
  readonly hold_ms: number;
  readonly clock: Clock;
  /** One request to the client on the stream of the call. */
  ask(question: Question): Promise<Answer>;
  send(message: unknown): void;
}

/** It is the gate that ends a question; this only keeps us from waiting for ever. */
const SPARE_MS = 30_000;

/** Asks with a form while the call waits (2025-06-18, 2025-11-25). When somebody else was first, the client is told to take it away. */
export function formAsker(parts: InCallParts, form: (record: ApprovalRecord) => Members): InCallAsker {
  const ask: InCallAsker['ask'] = async (record, signal) => {
    const asked_at = parts.clock.monotonic();
    const answer = await elicit(parts, form(record), signal);
    return answer.ok ? readForm(answer.result, parts.clock.monotonic() - asked_at) : { unreachable: answer.reason };
  };
  return { type: 'in_call', hold_ms: parts.hold_ms, ask };
}

/** Asks the client to open our page (2025-11-25); its yes means no more than that, and what is said on the page comes another way. */
export function urlAsker(parts: InCallParts, address: (record: ApprovalRecord) => Members): InCallAsker {
  return byPage(parts.hold_ms, async (record, signal) => {
    const params = address(record);
    const asked_at = parts.clock.monotonic();
    const answer = await elicit(parts, params, signal);
    if (!answer.ok) return { unreachable: answer.reason };
    if (!isObject(answer.result) || answer.result['action'] !== 'accept')
      return readForm(answer.result, parts.clock.monotonic() - asked_at);
    await aborted(signal);
    const { elicitationId } = params;
    parts.send({ jsonrpc: '2.0', method: 'notifications/elicitation/complete', params: { elicitationId } });
    return { unreachable: 'it is answered on the page' };
  });
}

/** The person was sent to the page already (2026-07-28): nothing is asked, the call only waits for what is said there. */
export function pageAsker(hold_ms: number): InCallAsker {
  return byPage(hold_ms, async (_record, signal) => {
    await aborted(signal);
    return { unreachable: 'it is answered on the page' };
  });
}

function byPage(hold_ms: number, ask: InCallAsker['ask']): InCallAsker {
  return { type: 'in_call', page: true, hold_ms, ask };
}

async function elicit({ ask, hold_ms }: InCallParts, params: Members, signal: AbortSignal): Promise<Answer> {
  const answer = await ask({ method: 'elicitation/create', params, ms: hold_ms + SPARE_MS, signal });
  return answer.ok ? answer : { ...answer, reason: `the client could not ask: ${answer.reason}` };
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
