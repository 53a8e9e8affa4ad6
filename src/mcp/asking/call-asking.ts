import { cardText } from '../../approvals/index.ts';
import type { ApprovalRecord } from '../../approvals/types.ts';
import type { Asker, GateRequest } from '../../gate/types.ts';
import { failure, INVALID_PARAMS, isObject, type Members, type RpcError } from '../../kernel/json-rpc/message.ts';
import { holdOf, saysUnattended } from '../hosts.ts';
import type { WorkContext } from '../methods/context.ts';
import { formParams, readForm, urlParams } from './form.ts';
import { formAsker, pageAsker, urlAsker } from './in-call.ts';
import { type Modes, modesOf, NOBODY } from './modes.ts';
import { type Bound, mintState, QUESTION, readState } from './request-state.ts';

/** What one call says about asking. */
export interface CallAsking {
  /** How its person can be reached, and what it brings back of an earlier question. */
  readonly request: Pick<GateRequest, 'asker' | 'reply' | 'forged'>;
  /** How often its client was given the question before. */
  readonly round: number;
}

/** A client that answers by itself, and wrongly, would otherwise go round for as long as it likes. */
const MOST_ROUNDS = 3;

/** The error that params of a wrong shape get; undefined where they are right. */
export function badRetry({ inputResponses, requestState }: Members): { readonly error: RpcError } | undefined {
  if (inputResponses !== undefined && !isObject(inputResponses)) {
    return failure(INVALID_PARAMS, 'The member params.inputResponses must be an object');
  }
  if (requestState !== undefined && typeof requestState !== 'string') {
    return failure(INVALID_PARAMS, 'The member params.requestState must be a string');
  }
  return undefined;
}

export function askingOf(context: WorkContext, bound: Bound, unattended = false): CallAsking {
  const { parts, features, peer, params, ask, send } = context;
  const { clock, approvalUrl } = parts;
  const modes = unattended || saysUnattended(params) ? NOBODY : modesOf(peer, features);
  if (features.asks === 'with_answer') return askingWithAnswer(context, bound, modes);
  const { form, url } = modes;
  const inCall = { hold_ms: holdOf(peer), clock, ask, send };
  const onPage =
    url && approvalUrl
      ? urlAsker(inCall, (record) => ({ ...urlParams(textOf(context, record), approvalUrl(record)), elicitationId: record.id }))
      : undefined;
  if (!form) return first(onPage);
  const inForm = formAsker(inCall, (record) => formParams(record, textOf(context, record), features));
  return first(onPage ? { ...inForm, on_page: onPage } : inForm);
}

function first(asker?: Asker): CallAsking {
  return { request: asker === undefined ? {} : { asker }, round: 0 };
}

function askingWithAnswer({ parts, peer, params }: WorkContext, bound: Bound, { form, url }: Modes): CallAsking {
  const { clock, signer, approvalUrl } = parts;
  const { inputResponses = {}, requestState } = params;
  if (signer === undefined) return first();
  const asker = withAnswer(form, url && approvalUrl !== undefined);
  if (typeof requestState !== 'string') return first(asker);
  const now = clock.now();
  const state = readState(requestState, bound, now, signer);
  if (!state.ok) return { request: { forged: state.reason }, round: 0 };
  const { approval, mode, round, asked_at } = state;
  const response = isObject(inputResponses) ? inputResponses[QUESTION] : undefined;
  const isLast = round >= MOST_ROUNDS;
  // Nothing was answered: the call is as good as a first one, and gets the question again.
  if (response === undefined && !isLast) return { ...first(asker), round };
  if (mode === 'url' && isObject(response) && response['action'] === 'accept') return first(pageAsker(holdOf(peer)));
  const reply = response === undefined ? UNANSWERED : readForm(response, now - asked_at);
  return { request: { ...(asker && !isLast ? { asker } : {}), reply: { approval, reply } }, round };
}

const UNANSWERED = { unreachable: 'the client called again without an answer' };

function withAnswer(form: boolean, page: boolean): Asker | undefined {
  const onPage = page ? ({ type: 'with_answer', page: true } as const) : undefined;
  if (!form) return onPage;
  return onPage ? { type: 'with_answer', on_page: onPage } : { type: 'with_answer' };
}

/** A question as the result of its call (2026-07-28); undefined where this client can't be given it. */
export function questionResult(context: WorkContext, bound: Bound, record: ApprovalRecord, round: number): Members | undefined {
  const { parts, features, peer } = context;
  const { clock, signer, approvalUrl } = parts;
  if (signer === undefined) return undefined;
  const { form, url } = modesOf(peer, features);
  const text = textOf(context, record);
  // The gate lets nothing be asked in a form that opens everything.
  const page = url && (!form || record.card.opens.some(({ type }) => type === 'uncontained')) ? approvalUrl?.(record) : undefined;
  if (page === undefined && !form) return undefined;
  const params = page === undefined ? formParams(record, text, features) : urlParams(text, page);
  return {
    resultType: 'input_required',
    inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
    requestState: mintState(record, { mode: page === undefined ? 'form' : 'url', round: round + 1, asked_at: clock.now() }, bound, signer),
  };
}

function textOf({ parts }: WorkContext, record: ApprovalRecord): string {
  return `Writ asks for your decision.\n\n${cardText(record, parts.clock.now())}`;
}
