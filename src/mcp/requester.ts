import { randomBytes } from 'node:crypto';
import { isObject, type Members } from '../kernel/json-rpc/message.ts';
import type { Logger } from '../kernel/logger.ts';

export type Answer =
  | { readonly ok: true; readonly result: unknown }
  /** `lost`: nobody saw the question, or the way back is gone. */
  | { readonly ok: false; readonly reason: string; readonly lost?: true };

/** Where a question goes out: the stream of the very call that it is asked for. */
export interface Way {
  /** False when nothing can be sent this way. */
  send(message: unknown): boolean;
}

export interface Question {
  readonly method: string;
  readonly params?: Members;
  /** Covers all of it. */
  readonly ms: number;
  /** Not asked before; default: at once. */
  readonly ready?: Promise<void>;
  /** The answer is no longer wanted: the client is told, and what it still says is dropped. */
  readonly signal?: AbortSignal;
}

/** Requests of ours towards the client (handshake revisions only) and what comes back for them. */
export interface Requester {
  /** Waits for `ready`, asks, and waits for the answer. Never rejects. */
  ask(question: Question, way: Way): Promise<Answer>;
  /** A response that came in; what nobody waits for is dropped with a log line. */
  settle(id: unknown, response: { readonly result?: unknown; readonly error?: unknown }): void;
  /** What was asked this way can't be answered any more. */
  lost(way: Way): void;
  close(): void;
}

const MAX_WAITING = 16;

export function createRequester(logger: Logger): Requester {
  const waiting = new Map<string, { readonly way: Way; finish(answer: Answer): void }>();
  // A session over HTTP outlives the process: a late answer to an older process must not fit a question of this one.
  const prefix = `writ-${randomBytes(6).toString('hex')}`;
  let last = 0;
  let open = true;

  return {
    ask({ method, params, ms, ready = Promise.resolve(), signal }, way) {
      if (signal?.aborted) return Promise.resolve({ ok: false, reason: 'no longer wanted' });
      if (!open || waiting.size >= MAX_WAITING) return Promise.resolve({ ok: false, reason: open ? 'too many open questions' : 'closed' });
      const id = `${prefix}-${++last}`;
      return new Promise((resolve) => {
        let asked = false;
        const timer = setTimeout(() => giveUp(asked ? `no answer within ${ms} ms` : `not initialized within ${ms} ms`), ms);
        timer.unref();
        const unwanted = (): void => giveUp('no longer wanted');
        signal?.addEventListener('abort', unwanted, { once: true });
        function giveUp(reason: string): void {
          finish({ ok: false, reason });
          if (asked) way.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason } });
        }
        function finish(answer: Answer): void {
          clearTimeout(timer);
          signal?.removeEventListener('abort', unwanted);
          waiting.delete(id);
          resolve(answer);
        }
        waiting.set(id, { way, finish });
        void ready.then(() => {
          if (!waiting.has(id)) return;
          asked = true;
          const message = { jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) };
          if (!way.send(message)) finish({ ok: false, reason: 'the question could not be sent', lost: true });
        });
      });
    },
    settle(id, response) {
      const finish = typeof id === 'string' ? waiting.get(id)?.finish : undefined;
      if (finish === undefined) logger.warn('a response to nothing that was asked is dropped', { id_type: typeof id });
      else if ('error' in response) {
        const message = isObject(response.error) ? response.error['message'] : undefined;
        finish({ ok: false, reason: typeof message === 'string' ? message.slice(0, 200) : 'the client answered with an error' });
      } else finish({ ok: true, result: response.result });
    },
    lost(way) {
      for (const each of [...waiting.values()])
        if (each.way === way) each.finish({ ok: false, reason: 'the connection of the call was lost', lost: true });
    },
    close() {
      open = false;
      for (const { finish } of [...waiting.values()]) finish({ ok: false, reason: 'closed' });
    },
  };
}
