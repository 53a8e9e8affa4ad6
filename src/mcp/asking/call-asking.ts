import { cardText } from '../../approvals/index.ts';
import type { ApprovalRecord } from '../../approvals/types.ts';
import type { GateRequest } from '../../gate/types.ts';
import { holdOf } from '../hosts.ts';
import { failure, INVALID_PARAMS, isObject, type Members, type RpcError } from '../message.ts';
import type { WorkContext } from '../methods/context.ts';
import { formParams, readForm, urlParams } from './form.ts';
import { formAsker, pageAsker, urlAsker } from './in-call.ts';
import { modesOf } from './modes.ts';
import { type Bound, mintState, QUESTION, readState } from './request-state.ts';

/** What one call says about asking: how its person can be reached, and what it brings back of an earlier question. */
export type CallAsking = Pick<GateRequest, 'asker' | 'reply' | 'forged'>;

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

/** `waiting` is called when the call begins to wait for a person. */
export function askingOf(context: WorkContext, bound: Bound, waiting: () => void): CallAsking {
  const { parts, features, peer, ask, send } = context;
  const { clock, approvalUrl } = parts;
  const { form, url } = modesOf(peer, features);
  if (features.asks === 'with_answer') return askingWithAnswer(context, bound, waiting);
  const inCall = { hold_ms: holdOf(peer), clock, ask, send, waiting };
  if (form) return { asker: formAsker(inCall, (record) => formParams(record, textOf(context, record), features)) };
  if (url && approvalUrl) {
    return {
      asker: urlAsker(inCall, (record) => ({ ...urlParams(textOf(context, record), approvalUrl(record)), elicitationId: record.id })),
    };
  }
  return {};
}

function askingWithAnswer({ parts, features, peer, params }: WorkContext, bound: Bound, waiting: () => void): CallAsking {
  const { clock, signer } = parts;
  const { inputResponses = {}, requestState } = params;
  if (signer === undefined) return {};
  const { form, url } = modesOf(peer, features);
  const asking = withAnswer(form, url && parts.approvalUrl !== undefined);
  if (typeof requestState !== 'string') return asking;
  const now = clock.now();
  const state = readState(requestState, bound, now, signer);
  if (!state.ok) return { forged: state.reason };
  const response = isObject(inputResponses) ? inputResponses[QUESTION] : undefined;
  // Nothing was answered: the call is as good as a first one, and gets the question again.
  if (response === undefined) return asking;
  if (state.mode === 'url' && isObject(response) && response['action'] === 'accept') {
    return { asker: pageAsker({ hold_ms: holdOf(peer), waiting }) };
  }
  return { ...asking, reply: { approval: state.approval, reply: readForm(response, now - state.asked_at) } };
}

function withAnswer(form: boolean, page: boolean): CallAsking {
  if (form) return { asker: { type: 'with_answer' } };
  return page ? { asker: { type: 'with_answer', page: true } } : {};
}

/** A question as the result of its call (2026-07-28); undefined where this client can't be given it. */
export function questionResult(context: WorkContext, bound: Bound, record: ApprovalRecord): Members | undefined {
  const { parts, features, peer } = context;
  const { clock, signer, approvalUrl } = parts;
  if (signer === undefined) return undefined;
  const { form, url } = modesOf(peer, features);
  const text = textOf(context, record);
  const params = form ? formParams(record, text, features) : url && approvalUrl ? urlParams(text, approvalUrl(record)) : undefined;
  if (params === undefined) return undefined;
  return {
    resultType: 'input_required',
    inputRequests: { [QUESTION]: { method: 'elicitation/create', params } },
    requestState: mintState(record, form ? 'form' : 'url', bound, clock.now(), signer),
  };
}

function textOf({ parts }: WorkContext, record: ApprovalRecord): string {
  return `Writ asks for your decision.\n\n${cardText(record, parts.clock.now())}`;
}
