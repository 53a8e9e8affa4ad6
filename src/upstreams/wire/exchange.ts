import { AppError } from '../../kernel/errors.ts';
import { classify, isObject, METHOD_NOT_FOUND, type RequestId } from '../../kernel/json-rpc/message.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { JsonObject } from '../types.ts';
import type { Carrier } from './carrier.ts';
import { createDeadline, type Deadline } from './deadline.ts';

/** Requests waiting for an answer of one upstream. */
const MAX_PENDING = 1_024;
/** Requests of the upstream that are being answered. */
const MAX_SERVED = 64;

/** A JSON-RPC error as the upstream gave it. */
export interface PeerError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export type PeerAnswer = { readonly ok: true; readonly result: JsonObject } | { readonly ok: false; readonly error: PeerError };

export interface RequestOptions {
  readonly timeout_ms: number;
  readonly signal?: AbortSignal;
  /** Asked for by a token when it is there. */
  onProgress?(params: JsonObject): void;
  /** Something that belongs to this request: who asks in its course is asked there. */
  readonly scope?: unknown;
  /** For carriers that have them. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the upstream asks of us. `scopes` are those of the requests under way just now, oldest first. */
export interface Served {
  request(method: string, params: JsonObject, scopes: readonly unknown[], signal: AbortSignal): Promise<PeerAnswer>;
  notification(method: string, params: JsonObject, scopes: readonly unknown[]): void;
}

/** What went wrong on the wire without ending anything, counted. */
export interface WireCounts {
  late: number;
  unknown: number;
  noise: number;
}

export interface Exchange {
  /** Its answer; AppError where there is none: cancelled, upstream_timeout, outcome_unknown, upstream_unavailable, busy. */
  request(method: string, params: JsonObject | undefined, options: RequestOptions): Promise<PeerAnswer>;
  notify(method: string, params?: JsonObject): void;
  readonly counts: Readonly<WireCounts>;
  /** Resolves with the reason once nothing comes or goes any more. */
  readonly closed: Promise<string>;
  close(): Promise<void>;
}

interface Pending {
  readonly scope: unknown;
  readonly deadline: Deadline;
  readonly onProgress: ((params: JsonObject) => void) | undefined;
  finish(answer: PeerAnswer | AppError): void;
}

/**
 * Requests and answers over one carrier. Ids are ours and never used twice, so that an answer that is late, doubled or for nobody fits
 * nothing and is dropped and counted. A request is never sent again.
 */
export async function createExchange(carrier: Carrier, served: Served, logger: Logger): Promise<Exchange> {
  /** By id. An entry is emptied before it goes (kernel/passing.ts says why). */
  const pending = new Map<number, { request: Pending | undefined }>();
  const waiting = (): readonly Pending[] => [...pending.values()].flatMap(({ request }) => request ?? []);
  const serving = new Map<RequestId, AbortController>();
  const counts: WireCounts = { late: 0, unknown: 0, noise: 0 };
  const closed = Promise.withResolvers<string>();
  let over: string | undefined;
  let last = 0;

  const scopes = (): readonly unknown[] => waiting().flatMap(({ scope }) => (scope === undefined ? [] : [scope]));

  function onMessage(value: unknown): void {
    const message = classify(value);
    if (message.kind === 'response') settle(message.id, message);
    else if (message.kind === 'request') void serve(message.id, message.method, message.params);
    else if (message.kind === 'notification') onNotification(message.method, message.params);
    else if (message.kind === 'batch') {
      // Allowed in 2025-03-26; never holds another array.
      for (const item of message.items.slice(0, MAX_PENDING)) if (!Array.isArray(item)) onMessage(item);
    } else {
      counts.noise++;
      logger.debug('a message of an upstream is left out', { reason: message.error.message });
    }
  }

  function settle(id: unknown, response: { readonly result?: unknown; readonly error?: unknown }): void {
    const request = typeof id === 'number' ? pending.get(id)?.request : undefined;
    if (request === undefined) {
      if (typeof id === 'number' && Number.isInteger(id) && id > 0 && id <= last) counts.late++;
      else counts.unknown++;
      logger.debug('an answer that nobody waits for is dropped', { late: counts.late, unknown: counts.unknown });
    } else if (Object.hasOwn(response, 'error')) request.finish({ ok: false, error: peerError(response.error) });
    else if (isObject(response.result)) request.finish({ ok: true, result: response.result });
    else request.finish(new AppError('upstream_error', 'It answered with a result that is not an object.'));
  }

  function onNotification(method: string, params: JsonObject): void {
    if (method === 'notifications/cancelled') {
      const { requestId } = params;
      if (typeof requestId === 'string' || typeof requestId === 'number')
        serving.get(requestId)?.abort(new AppError('cancelled', 'The upstream took its question back.'));
    } else if (method === 'notifications/progress') {
      const { progressToken } = params;
      if (typeof progressToken === 'number') pending.get(progressToken)?.request?.onProgress?.(params);
    } else served.notification(method, params, scopes());
  }

  async function serve(id: RequestId, method: string, params: JsonObject): Promise<void> {
    const answer = (reply: PeerAnswer): void => {
      const message = reply.ok ? { jsonrpc: '2.0', id, result: reply.result } : { jsonrpc: '2.0', id, error: reply.error };
      carrier.send(message).catch((thrown: unknown) => logger.debug('an answer to an upstream was not sent', { reason: String(thrown) }));
    };
    if (serving.has(id) || serving.size >= MAX_SERVED) {
      const message = serving.has(id) ? 'This id is in use' : `${MAX_SERVED} requests are being answered already`;
      answer({ ok: false, error: { code: -32600, message } });
      return;
    }
    const controller = new AbortController();
    serving.set(id, controller);
    // Whoever is asked takes the time that a person needs.
    const held = waiting()
      .filter(({ scope }) => scope !== undefined)
      .map(({ deadline }) => deadline.hold());
    try {
      answer(method === 'ping' ? { ok: true, result: {} } : await served.request(method, params, scopes(), controller.signal));
    } catch (thrown) {
      answer({
        ok: false,
        error: { code: -32603, message: thrown instanceof AppError ? thrown.message : 'The request could not be answered' },
      });
    } finally {
      serving.delete(id);
      for (const release of held) release();
    }
  }

  function end(reason: string): void {
    if (over !== undefined) return;
    over = reason;
    for (const controller of serving.values()) controller.abort(new AppError('cancelled', 'The connection has ended.'));
    for (const { finish } of waiting())
      finish(new AppError('outcome_unknown', `The connection ended before an answer came: ${reason}. It may have run.`));
    closed.resolve(reason);
  }

  await carrier.start({
    message: onMessage,
    noise(what, sample) {
      counts.noise++;
      // The first few are worth a look, a flood of them is not.
      if (counts.noise <= 5) logger.warn('something that is no message came on the output of an upstream; it is skipped', { what, sample });
    },
    closed: end,
  });

  return {
    counts,
    closed: closed.promise,
    request(method, params, { timeout_ms, signal, onProgress, scope, headers }) {
      if (over !== undefined) return Promise.reject(new AppError('upstream_unavailable', `It is not connected: ${over}.`));
      if (signal?.aborted) return Promise.reject(new AppError('cancelled', 'The request was cancelled before it was sent.'));
      if (pending.size >= MAX_PENDING) return Promise.reject(new AppError('busy', `${MAX_PENDING} requests to it are waiting already.`));
      const id = ++last;
      return new Promise((resolve, reject) => {
        const own = new AbortController();
        const deadline = createDeadline(timeout_ms, () =>
          giveUp(new AppError('upstream_timeout', `No answer came within ${timeout_ms} ms.`)),
        );
        const cancelled = (): void => giveUp(new AppError('cancelled', 'The request was cancelled; the upstream was told.'));
        signal?.addEventListener('abort', cancelled, { once: true });
        function finish(answer: PeerAnswer | AppError): void {
          if (!pending.delete(id)) return;
          entry.request = undefined;
          deadline.end();
          signal?.removeEventListener('abort', cancelled);
          if (answer instanceof AppError) reject(answer);
          else resolve(answer);
        }
        /** The upstream is told and the connection kept; what it still says is dropped. */
        function giveUp(error: AppError): void {
          if (!pending.has(id)) return;
          finish(error);
          own.abort(error);
          // `initialize` must not be cancelled (2025-11-25, lifecycle).
          if (method !== 'initialize') notify('notifications/cancelled', { requestId: id, reason: error.message });
        }
        const entry: { request: Pending | undefined } = { request: { scope, deadline, onProgress, finish } };
        pending.set(id, entry);
        const withToken =
          onProgress === undefined
            ? params
            : { ...params, _meta: { ...(isObject(params?.['_meta']) ? params['_meta'] : {}), progressToken: id } };
        carrier
          .send(
            { jsonrpc: '2.0', id, method, ...(withToken === undefined ? {} : { params: withToken }) },
            { signal: own.signal, ...(headers === undefined ? {} : { headers }) },
          )
          .catch((thrown: unknown) => {
            finish(
              thrown instanceof AppError
                ? thrown
                : new AppError('outcome_unknown', `It could not be reached: ${String(thrown)}. It may have run.`),
            );
          });
      });
    },
    notify,
    async close() {
      end('it was closed');
      await carrier.close();
    },
  };

  function notify(method: string, params?: JsonObject): void {
    if (over !== undefined) return;
    carrier
      .send({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) })
      .catch((thrown: unknown) => logger.debug('a notification was not sent', { method, reason: String(thrown) }));
  }
}

/** What it says is kept, whatever shape it has. */
function peerError(error: unknown): PeerError {
  if (!isObject(error)) return { code: -32603, message: 'It answered with an error that is not an object.' };
  const { code, message, data } = error;
  return {
    code: typeof code === 'number' && Number.isInteger(code) ? code : -32603,
    message: typeof message === 'string' ? message : 'It gave no message.',
    ...(data === undefined ? {} : { data }),
  };
}

export const METHOD_UNKNOWN: PeerAnswer = { ok: false, error: { code: METHOD_NOT_FOUND, message: 'Method not found' } };
