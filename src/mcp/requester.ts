import type { Logger } from '../kernel/logger.ts';
import { isObject } from './message.ts';

type Answer = { readonly ok: true; readonly result: unknown } | { readonly ok: false; readonly reason: string };

/** Requests of ours towards the client (handshake revisions only) and what comes back for them. */
export interface Requester {
  /** Waits for `ready`, asks, and waits for the answer; `ms` covers all of it. Never rejects. */
  ask(method: string, ms: number, ready: Promise<void>): Promise<Answer>;
  /** A response that came in; what nobody waits for is dropped with a log line. */
  settle(id: unknown, response: { readonly result?: unknown; readonly error?: unknown }): void;
  close(): void;
}

const MAX_WAITING = 16;

export function createRequester(send: (message: unknown) => void, logger: Logger): Requester {
  const waiting = new Map<string, (answer: Answer) => void>();
  let last = 0;
  let open = true;

  return {
    ask(method, ms, ready) {
      if (!open || waiting.size >= MAX_WAITING) return Promise.resolve({ ok: false, reason: open ? 'too many open questions' : 'closed' });
      const id = `writ-${++last}`;
      return new Promise((resolve) => {
        let asked = false;
        const timer = setTimeout(() => {
          finish({ ok: false, reason: asked ? `no answer within ${ms} ms` : `not initialized within ${ms} ms` });
          if (asked) send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id, reason: 'no answer in time' } });
        }, ms);
        timer.unref();
        function finish(answer: Answer): void {
          clearTimeout(timer);
          waiting.delete(id);
          resolve(answer);
        }
        waiting.set(id, finish);
        void ready.then(() => {
          if (!waiting.has(id)) return;
          asked = true;
          send({ jsonrpc: '2.0', id, method });
        });
      });
    },
    settle(id, response) {
      const finish = typeof id === 'string' ? waiting.get(id) : undefined;
      if (finish === undefined) logger.warn('a response to nothing that was asked is dropped', { id_type: typeof id });
      else if ('error' in response) {
        const message = isObject(response.error) ? response.error['message'] : undefined;
        finish({ ok: false, reason: typeof message === 'string' ? message.slice(0, 200) : 'the client answered with an error' });
      } else finish({ ok: true, result: response.result });
    },
    close() {
      open = false;
      for (const finish of [...waiting.values()]) finish({ ok: false, reason: 'closed' });
    },
  };
}
