import {
  type FetchLike,
  type JSONRPCMessage,
  SdkHttpError,
  SSEClientTransport,
  SseError,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { AppError, errnoOf } from '../../kernel/errors.ts';
import { boundedFetch, TooLong } from './bounded-fetch.ts';
import type { Carrier, CarrierEvents } from './carrier.ts';

export interface HttpCarrierParts {
  readonly type: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** One message. */
  readonly max_bytes: number;
  /** Dials through the network guard, and shows the login where there is one. */
  readonly fetch: FetchLike;
  /** Connections that are kept for it end with it. */
  close(): Promise<void>;
}

/** What failed before anything was read by the other side. */
const NOT_SENT: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);
const MAX_SAID = 300;

/** What servers of the older SSE answer to a POST at the address of their stream. The rest of 4xx says something else. */
const NO_POST: ReadonlySet<number> = new Set([400, 404, 405]);

/**
 * Streamable HTTP, or the older SSE: the SDK's transport, with our bounds around it. A server that takes no `initialize` by POST is asked for
 * the stream of the older one, as the protocol says: an address alone doesn't tell which of them it is.
 */
export function createHttpCarrier(parts: HttpCarrierParts): Carrier {
  const url = new URL(parts.url);
  /** The SDK keeps only the text of what ends an SSE stream. */
  let refused: AppError | undefined;
  const noting: FetchLike = (where, init) =>
    parts.fetch(where, init).catch((thrown: unknown) => {
      if (thrown instanceof AppError) refused = thrown;
      throw thrown;
    });
  const options = {
    fetch: boundedFetch(noting, parts.max_bytes),
    requestInit: { headers: parts.headers },
  };
  let transport = parts.type === 'sse' ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options);
  let tried: SSEClientTransport | undefined;
  let over: string | undefined;
  let events: CarrierEvents | undefined;
  let gone = false;

  function end(reason: string): void {
    if (over !== undefined) return;
    over = reason;
    events?.closed(reason);
    // Told that it isn't needed any more, if it listens; what becomes of that changes nothing here.
    const said =
      transport instanceof StreamableHTTPClientTransport && !gone ? transport.terminateSession().catch(() => {}) : Promise.resolve();
    void Promise.race([said, new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
      .then(() => Promise.all([transport.close(), tried?.close()]))
      .then(parts.close)
      .catch(() => {});
  }

  function explain(thrown: unknown): AppError {
    const error = failureOf(
      SseError.isInstance(thrown) ? (refused ?? thrown) : thrown,
      url,
      transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined,
    );
    if (error.data?.['session_gone'] === true) {
      gone = true;
      end('the server does not know its session any more');
    }
    return error;
  }

  function listen(): void {
    transport.onmessage = (message) => events?.message(message);
    transport.onclose = () => end('it was closed');
    transport.onerror = (error) => {
      if (error instanceof TooLong || error.cause instanceof TooLong || error.message.includes(TooLong.marker)) {
        end(`it sent a message of more than ${parts.max_bytes} bytes (max_response_bytes)`);
      } else if (transport instanceof SSEClientTransport && over === undefined && !(error instanceof SyntaxError))
        end(`its stream broke: ${error.message.slice(0, MAX_SAID)}`);
    };
  }

  /** Whether it is one of the older SSE; its stream is open then. Where it isn't, that it refused the POST stays the reason. */
  async function takeStream(): Promise<boolean> {
    const stream = new SSEClientTransport(url, options);
    tried = stream;
    try {
      await stream.start();
      if (over !== undefined) return false;
    } catch {
      await stream.close();
      return false;
    }
    // What it replaces has no session and no stream: nothing of it is open.
    transport = stream;
    listen();
    return true;
  }

  return {
    type: parts.type,
    async start(given) {
      events = given;
      listen();
      try {
        await transport.start();
      } catch (thrown) {
        throw explain(thrown);
      }
    },
    async send(message, { signal, headers } = {}) {
      if (over !== undefined) throw new AppError('upstream_unavailable', `It is not connected: ${over}.`);
      const asks = 'method' in message && 'id' in message;
      const silent = Promise.withResolvers<void>();
      try {
        const out = message as unknown as JSONRPCMessage;
        if (transport instanceof SSEClientTransport) await transport.send(out);
        else {
          const onRequestStreamEnd = (): void =>
            silent.reject(new AppError('outcome_unknown', 'Its answer ended before it was whole. It may have run.'));
          await transport.send(out, {
            ...(signal === undefined ? {} : { requestSignal: signal }),
            ...(headers === undefined ? {} : { headers }),
            ...(asks ? { onRequestStreamEnd } : {}),
          });
        }
      } catch (thrown) {
        const refuses =
          SdkHttpError.isInstance(thrown) && NO_POST.has(thrown.status ?? 0) && transport instanceof StreamableHTTPClientTransport;
        if (!refuses || !('method' in message) || message.method !== 'initialize' || !(await takeStream())) throw explain(thrown);
        return await this.send(message, signal === undefined ? {} : { signal });
      }
      if (!asks) return;
      // Nobody waits here for an answer that came; a stream that ends without one is a failure of the request.
      await Promise.race([silent.promise, aborted(signal)]);
    },
    speak: (revision) => transport.setProtocolVersion(revision),
    async close() {
      end('it was closed');
    },
  };
}

function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal === undefined || signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function failureOf(thrown: unknown, url: URL, in_session: boolean): AppError {
  if (thrown instanceof AppError) return thrown;
  if (SdkHttpError.isInstance(thrown)) {
    const { status } = thrown;
    const said = thrown.message.slice(0, MAX_SAID).toWellFormed();
    if (status === 401)
      return new AppError('upstream_unavailable', `${url.origin} does not accept the credential (HTTP 401).`, {
        data: { needs_auth: true },
        cause: thrown,
      });
    if (status === 404 && in_session)
      return new AppError('upstream_unavailable', `${url.origin} has ended the session (HTTP 404).`, {
        data: { session_gone: true },
      });
    return new AppError('upstream_error', `${url.origin} answered with HTTP ${status}: ${said}`, { data: { status }, cause: thrown });
  }
  if (SseError.isInstance(thrown) && thrown.code === 401)
    return new AppError('upstream_unavailable', `${url.origin} does not accept the credential (HTTP 401).`, {
      data: { needs_auth: true },
      cause: thrown,
    });
  const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  if (cause instanceof AppError) return cause;
  const errno = errnoOf(cause);
  const said = cause instanceof Error ? cause.message.slice(0, MAX_SAID) : String(cause);
  if (cause instanceof TooLong || said.includes(TooLong.marker))
    return new AppError('outcome_unknown', `Its answer is longer than max_response_bytes allows. It may have run.`);
  // `no connection`: the guard's own words.
  if ((errno !== undefined && NOT_SENT.has(errno)) || said.includes('no connection')) {
    return new AppError('upstream_unavailable', `${url.origin} can't be reached: ${said}.`, { cause: thrown });
  }
  return new AppError('outcome_unknown', `The connection to ${url.origin} failed: ${said}. It may have run.`, { cause: thrown });
}
