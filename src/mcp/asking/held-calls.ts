import { createHash, randomBytes } from 'node:crypto';
import { canonicalJson } from '../../kernel/canonical-json.ts';
import { AppError } from '../../kernel/errors.ts';
import { failure, INVALID_PARAMS, isObject, type Members, type Reply } from '../../kernel/json-rpc/message.ts';
import type { Flight, Places } from '../in-flight.ts';
import { type HeldCalls, type Meant, scopeOf, type Work, type WorkContext } from '../methods/context.ts';
import { createProgress, type Progress } from '../progress.ts';
import type { Answer, Question } from '../requester.ts';

/**
 * A client of 2026-07-28 is asked with the answer of its call and calls again with what its person said; a program behind the call may be
 * of a time when one asked while the call waits. So the call is held open here: the client gets the question and a `requestState`, and its
 * next request goes on with the very same call, which reaches the program once.
 *
 * The state is a random name of something that only this process has, good for one request of the same caller with the same arguments. A
 * signature would prove nothing that its 256 bits don't.
 */

/** From the question to the request that brings its answer; then the call is cancelled. */
const WAIT_MS = 10 * 60_000;
/** A client that calls again without an answer, over and over. */
const MOST_TIMES = 3;
const STATE = 'held.';

interface Open {
  readonly method: string;
  readonly params: Members;
  times: number;
  finish(answer: Answer): void;
}

interface Held {
  readonly controller: AbortController;
  readonly questions: Map<string, Open>;
  /** The request that waits for it just now. */
  attached?: { readonly context: WorkContext; readonly progress: Progress };
  /** Whose call of what; found out when it is first asked about. */
  whose?: string;
  done?: { readonly reply: Reply | undefined } | { readonly thrown: unknown };
  /** Settled, and made anew, whenever there is something to tell. */
  news: PromiseWithResolvers<void>;
  counted: boolean;
}

export function createHeldCalls(places: Places): HeldCalls {
  const parked = new Map<string, { readonly held: Held; readonly timer: NodeJS.Timeout }>();
  const all = new Set<Held>();
  let last = 0;

  function tell(held: Held): void {
    held.news.resolve();
    held.news = Promise.withResolvers();
  }

  function forget(held: Held): void {
    all.delete(held);
    if (held.counted) places.taken--;
    held.counted = false;
  }

  function ask(held: Held, { method, params = {}, signal }: Question): Promise<Answer> {
    if (signal?.aborted) return Promise.resolve({ ok: false, reason: 'no longer wanted' });
    if (!held.counted && places.taken >= places.max) {
      return Promise.resolve({ ok: false, reason: `${places.max} calls of this client wait for an answer already` });
    }
    if (!held.counted) places.taken++;
    held.counted = true;
    const key = `question-${++last}`;
    return new Promise((resolve) => {
      const finish = (answer: Answer): void => {
        signal?.removeEventListener('abort', unwanted);
        held.questions.delete(key);
        resolve(answer);
      };
      const unwanted = (): void => finish({ ok: false, reason: 'no longer wanted' });
      signal?.addEventListener('abort', unwanted, { once: true });
      held.questions.set(key, { method, params, times: 0, finish });
      tell(held);
    });
  }

  function begin(context: WorkContext, work: Work): Held {
    const held: Held = {
      controller: new AbortController(),
      questions: new Map(),
      news: Promise.withResolvers(),
      counted: false,
    };
    all.add(held);
    const flight: Flight = {
      signal: held.controller.signal,
      get unwanted() {
        return held.attached?.context.flight.unwanted ?? false;
      },
      cancel: (reason) => held.controller.abort(new AppError('cancelled', reason)),
      end() {},
    };
    // Whatever is said in its course goes out with the request that waits for it, and is lost while none does.
    const progress: Progress = {
      report: (message) => held.attached?.progress.report(message),
      relay: (params) => held.attached?.progress.relay(params) ?? true,
      stop: () => held.attached?.progress.stop(),
    };
    work({
      ...context,
      flight,
      progress,
      offer: (message) => held.attached?.context.offer(message),
      send: (message) => held.attached?.context.send(message),
      ask: (question) => ask(held, question),
    })
      .then(
        (reply) => {
          held.done = { reply };
        },
        (thrown: unknown) => {
          held.done = { thrown };
        },
      )
      .then(() => tell(held));
    return held;
  }

  /** One request waits for it: until it is done, or until its client must be asked. */
  async function attend(held: Held, context: WorkContext, meant: Meant): Promise<Reply | undefined> {
    const { signal } = context.flight;
    const progress = createProgress(context.params, context.parts.clock, context.offer);
    const cancel = (): void => held.controller.abort(signal.reason);
    if (signal.aborted) cancel();
    signal.addEventListener('abort', cancel, { once: true });
    held.attached = { context, progress };
    try {
      while (held.done === undefined && (held.questions.size === 0 || held.controller.signal.aborted)) await held.news.promise;
      if (held.done !== undefined) {
        forget(held);
        if ('thrown' in held.done) throw held.done.thrown;
        return held.done.reply;
      }
      held.whose ??= await whoseOf(context, meant);
      return park(held);
    } catch (thrown) {
      // Nobody will come back for it.
      if (held.done === undefined) held.controller.abort(new AppError('cancelled', 'Its client can not be asked.'));
      forget(held);
      throw thrown;
    } finally {
      progress.stop();
      signal.removeEventListener('abort', cancel);
      delete held.attached;
    }
  }

  function park(held: Held): Reply {
    const requestState = `${STATE}${randomBytes(32).toString('base64url')}`;
    const timer = setTimeout(() => {
      parked.delete(requestState);
      forget(held);
      held.controller.abort(new AppError('cancelled', `Nobody came back with an answer within ${WAIT_MS / 60_000} minutes.`));
    }, WAIT_MS).unref();
    parked.set(requestState, { held, timer });
    const inputRequests: Record<string, Members> = {};
    for (const [key, question] of held.questions) {
      question.times++;
      inputRequests[key] = { method: question.method, params: question.params };
    }
    return { result: { resultType: 'input_required', inputRequests, requestState } };
  }

  async function resume(context: WorkContext, meant: Meant, requestState: string): Promise<Reply | undefined> {
    const found = parked.get(requestState);
    if (found === undefined || found.held.whose !== (await whoseOf(context, meant)) || !parked.delete(requestState)) {
      return failure(INVALID_PARAMS, 'Invalid or expired requestState: what it belonged to has ended; it may have run', {
        code: 'invalid_arguments',
      });
    }
    const { held, timer } = found;
    clearTimeout(timer);
    const responses = isObject(context.params['inputResponses']) ? context.params['inputResponses'] : {};
    for (const [key, { times, finish }] of [...held.questions]) {
      const response = responses[key];
      if (isObject(response)) finish({ ok: true, result: response });
      else if (response !== undefined || times >= MOST_TIMES) finish({ ok: false, reason: 'the client came back without an answer' });
    }
    // What was answered is on its way to whoever asked, and may be the end of the call.
    return attend(held, context, meant);
  }

  return {
    run(context, meant, work) {
      const { features, parts, params, peer } = context;
      const { requestState } = params;
      if (features.asks !== 'with_answer' || parts.foreign?.() === undefined) return work(context);
      if (typeof requestState === 'string' && requestState.startsWith(STATE)) return resume(context, meant, requestState);
      const { elicitation, sampling } = peer.capabilities;
      if (!isObject(elicitation) && !isObject(sampling)) return work(context);
      return attend(begin(context, work), context, meant);
    },
    close(reason) {
      for (const { timer } of parked.values()) clearTimeout(timer);
      parked.clear();
      for (const held of all) {
        forget(held);
        held.controller.abort(new AppError('cancelled', reason));
      }
    },
  };
}

/** The Run is left out, as it is for approvals: without sessions it may be another one by now. */
async function whoseOf(context: WorkContext, { tool, arguments: args }: Meant): Promise<string> {
  const { organization, agent, workspace } = (await scopeOf(context)).owner;
  return createHash('sha256').update(canonicalJson({ organization, agent, workspace, tool, args })).digest('base64url');
}
