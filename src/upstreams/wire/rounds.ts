import { AppError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import type { JsonObject } from '../types.ts';
import type { PeerAnswer, RequestOptions, Served } from './exchange.ts';

/** How often one request may come back with questions, and how many at once. */
const MAX_ROUNDS = 16;
const MAX_QUESTIONS = 16;
const MAX_STATE = 256 * 1024;
const MAX_SAID = 300;
/** 2025-11-25: it wants a person to open pages first. */
const URL_NEEDED = -32042;
const MAX_PAGES = 4;

export interface RoundsParts {
  request(method: string, params: JsonObject, options: RequestOptions): Promise<PeerAnswer>;
  readonly served: Pick<Served, 'request'>;
}

/**
 * One request to an upstream of 2026-07-28, which asks with its answer: every question is put to whoever made the call, and the request
 * goes out again with what they said. The upstream asked for that, so it is the same call and not a repeated one. Its deadline is that of
 * each round: no clock runs while a person reads.
 */
export async function requestInRounds(
  { request, served }: RoundsParts,
  method: string,
  params: JsonObject,
  options: RequestOptions,
): Promise<PeerAnswer> {
  let sent = params;
  for (let round = 0; round <= MAX_ROUNDS; round++) {
    const answer = await request(method, sent, options);
    if (!answer.ok && answer.error.code === URL_NEEDED) await openPages(answer.error.data);
    if (!answer.ok || answer.result['resultType'] !== 'input_required') return answer;
    const { inputRequests = {}, requestState } = answer.result;
    if (!isObject(inputRequests) || (requestState !== undefined && typeof requestState !== 'string')) {
      throw new AppError('upstream_error', 'It asked for something in a form that is no question.');
    }
    const questions = Object.entries(inputRequests);
    if (questions.length > MAX_QUESTIONS || (requestState?.length ?? 0) > MAX_STATE) {
      throw new AppError('upstream_error', `It asked for more at once than ${MAX_QUESTIONS} things, or with a state over 256 KiB.`);
    }
    const inputResponses: Record<string, JsonObject> = {};
    // One after the other: a person reads one question at a time.
    for (const [key, question] of questions) inputResponses[key] = await responseTo(question);
    sent = {
      ...params,
      ...(questions.length === 0 ? {} : { inputResponses }),
      ...(requestState === undefined ? {} : { requestState }),
    };
  }
  throw new AppError('upstream_error', `It asked again after ${MAX_ROUNDS} answers.`);

  /** What comes of it is said by the error, which goes to whoever called: they call again once the person is done there. */
  async function openPages(data: unknown): Promise<void> {
    const pages = isObject(data) && Array.isArray(data['elicitations']) ? data['elicitations'].filter(isObject) : [];
    for (const page of pages.slice(0, MAX_PAGES)) await responseTo({ method: 'elicitation/create', params: { ...page, mode: 'url' } });
  }

  async function responseTo(question: unknown): Promise<JsonObject> {
    const { method: asks, params: about = {} } = isObject(question) ? question : {};
    if (typeof asks !== 'string' || !isObject(about)) throw new AppError('upstream_error', 'It asked for something that is no request.');
    const signal = options.signal ?? new AbortController().signal;
    const answer = await served.request(asks, about, options.scope === undefined ? [] : [options.scope], signal);
    if (signal.aborted) throw new AppError('cancelled', 'The request was cancelled while its question was open.');
    if (answer.ok) return answer.result;
    // What its own revision has for a question that nobody answered.
    if (asks === 'elicitation/create') return { action: 'cancel' };
    throw new AppError('upstream_error', `It needs ${asks.slice(0, 60)}, and got none: ${answer.error.message.slice(0, MAX_SAID)}`);
  }
}
