import { AppError } from '../../kernel/errors.ts';
import { isObject, UNSUPPORTED_PROTOCOL_VERSION } from '../../kernel/json-rpc/message.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { JsonObject } from '../types.ts';
import type { Carrier } from './carrier.ts';
import { createExchange, type Exchange, type PeerAnswer, type PeerError, type RequestOptions, type Served } from './exchange.ts';

export type Era = 'stateless' | 'handshake';

export const META_CAPABILITIES = 'io.modelcontextprotocol/clientCapabilities';
const STATELESS = '2026-07-28';
/** Newest first; the first is asked for. */
const HANDSHAKE = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** How long `server/discover` may stay unanswered before the older handshake is tried. */
const PROBE_MS = 3_000;
const MAX_PAGES = 1_000;
const MAX_ITEMS = 10_000;
const MAX_FACT = 200;
const MAX_INSTRUCTIONS = 16_384;

export interface UpstreamIdentity {
  readonly name: string;
  readonly version: string;
  readonly protocol: string;
}

/** An upstream that has said what it is. */
export interface UpstreamClient {
  readonly era: Era;
  readonly identity: UpstreamIdentity;
  readonly capabilities: JsonObject;
  readonly instructions?: string;
  readonly counts: Exchange['counts'];
  request(method: string, params: JsonObject, options: RequestOptions): Promise<PeerAnswer>;
  notify(method: string, params?: JsonObject): void;
  /** All pages of a list. AppError where there is no whole list. */
  list(method: string, member: string, options: RequestOptions): Promise<readonly unknown[]>;
  readonly closed: Promise<string>;
  close(): Promise<void>;
}

export interface ClientParts {
  readonly carrier: Carrier;
  readonly served: Served;
  readonly logger: Logger;
  readonly version: string;
  /** What it spoke the last time; undefined: not known, so it is found out. */
  readonly era?: Era;
  readonly timeout_ms: number;
  readonly signal: AbortSignal;
}

/** What an upstream may ask of us; whether the caller at hand can answer is found out when it does. */
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: {}, roots: { listChanged: true } };

/**
 * Finds out what an upstream speaks and agrees with it. 2026-07-28 is tried first where it can be tried without harm: an older server
 * answers `server/discover` with an error, or not at all.
 */
export async function openClient(parts: ClientParts): Promise<UpstreamClient> {
  const { carrier, logger, signal, timeout_ms } = parts;
  const clientInfo = { name: 'writ', title: 'Writ', version: parts.version };
  const exchange = await createExchange(carrier, parts.served, logger);
  const deadline = performance.now() + timeout_ms;
  const left = (): number => Math.max(1, Math.ceil(deadline - performance.now()));
  const abort = (): void => void exchange.close();
  signal.addEventListener('abort', abort, { once: true });

  try {
    signal.throwIfAborted();
    const stateless = carrier.type === 'sse' || parts.era === 'handshake' ? undefined : await discover();
    return stateless ?? (await handshake());
  } catch (thrown) {
    await exchange.close();
    throw thrown;
  } finally {
    signal.removeEventListener('abort', abort);
  }

  async function discover(retried = false): Promise<UpstreamClient | undefined> {
    const known = parts.era === 'stateless';
    carrier.speak(STATELESS);
    let answer: PeerAnswer;
    try {
      answer = await exchange.request('server/discover', withMeta({}), { timeout_ms: known ? left() : Math.min(PROBE_MS, left()), signal });
    } catch (thrown) {
      // Many older servers drop what they don't know, or end the connection; where the newer one is known to be spoken it is a fault.
      if (known || !(thrown instanceof AppError)) throw thrown;
      const { status } = thrown.data ?? {};
      const refused = typeof status === 'number' && status >= 400 && status < 500;
      if (thrown.code !== 'upstream_timeout' && !refused) throw thrown;
      return undefined;
    }
    // It speaks another revision of that era than the one that came in, or looks at the second request only: the same may be asked once more.
    if (!answer.ok && !retried && offers(answer.error)) return discover(true);
    if (!answer.ok) return undefined;
    const { result } = answer;
    const versions = result['supportedVersions'];
    if (!Array.isArray(versions) || !versions.includes(STATELESS)) return undefined;
    const meta = isObject(result['_meta']) ? result['_meta'] : {};
    return client('stateless', STATELESS, result, result['serverInfo'] ?? meta['io.modelcontextprotocol/serverInfo']);
  }

  async function handshake(): Promise<UpstreamClient> {
    carrier.speak(HANDSHAKE[0] ?? STATELESS);
    const params = { protocolVersion: HANDSHAKE[0], capabilities: CAPABILITIES, clientInfo };
    const answer = await exchange.request('initialize', params, { timeout_ms: left(), signal });
    if (!answer.ok) throw new AppError('upstream_error', `It refused to initialize: ${answer.error.message} (${answer.error.code}).`);
    const { protocolVersion, serverInfo } = answer.result;
    if (typeof protocolVersion !== 'string' || !HANDSHAKE.includes(protocolVersion)) {
      throw new AppError(
        'upstream_error',
        `It speaks the protocol revision ${JSON.stringify(protocolVersion)?.slice(0, 40)}, which Writ doesn't.`,
      );
    }
    carrier.speak(protocolVersion);
    exchange.notify('notifications/initialized');
    return client('handshake', protocolVersion, answer.result, serverInfo);
  }

  function withMeta(params: JsonObject): JsonObject {
    const meta = isObject(params['_meta']) ? params['_meta'] : {};
    const { [META_CAPABILITIES]: more } = meta;
    return {
      ...params,
      _meta: {
        ...meta,
        'io.modelcontextprotocol/protocolVersion': STATELESS,
        'io.modelcontextprotocol/clientInfo': clientInfo,
        [META_CAPABILITIES]: { elicitation: CAPABILITIES.elicitation, sampling: {}, roots: {}, ...(isObject(more) ? more : {}) },
      },
    };
  }

  function client(era: Era, protocol: string, said: JsonObject, info: unknown): UpstreamClient {
    const { capabilities, instructions } = said;
    const request: UpstreamClient['request'] = (method, params, options) =>
      exchange.request(method, era === 'stateless' ? withMeta(params) : params, options);
    return {
      era,
      identity: { ...identityOf(info), protocol },
      capabilities: isObject(capabilities) ? capabilities : {},
      ...(typeof instructions === 'string' && instructions !== ''
        ? { instructions: instructions.slice(0, MAX_INSTRUCTIONS).toWellFormed() }
        : {}),
      counts: exchange.counts,
      request,
      notify: exchange.notify,
      list: (method, member, options) => listAll(request, method, member, options),
      closed: exchange.closed,
      close: exchange.close,
    };
  }
}

/** Whether it says that it would have taken what we speak. */
function offers({ code, data }: PeerError): boolean {
  const supported = isObject(data) ? data['supported'] : undefined;
  return code === UNSUPPORTED_PROTOCOL_VERSION && Array.isArray(supported) && supported.includes(STATELESS);
}

function identityOf(info: unknown): { readonly name: string; readonly version: string } {
  const { name, version } = isObject(info) ? info : {};
  const fact = (value: unknown): string => (typeof value === 'string' ? value.slice(0, MAX_FACT).toWellFormed() : '');
  return { name: fact(name), version: fact(version) };
}

/** Drains a list. A cursor that comes again would go round for ever, and half a list is none: tools would come and go. */
async function listAll(
  request: UpstreamClient['request'],
  method: string,
  member: string,
  options: RequestOptions,
): Promise<readonly unknown[]> {
  const items: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const answer = await request(method, cursor === undefined ? {} : { cursor }, options);
    if (!answer.ok) throw new AppError('upstream_error', `${method} failed: ${answer.error.message} (${answer.error.code}).`);
    const found = answer.result[member];
    if (!Array.isArray(found)) throw new AppError('upstream_error', `${method} gave no list of ${member}.`);
    items.push(...found);
    if (items.length > MAX_ITEMS) throw new AppError('upstream_error', `${method} gave more than ${MAX_ITEMS} ${member}.`);
    const next = answer.result['nextCursor'];
    if (typeof next !== 'string' || next === '') return items;
    if (seen.has(next)) throw new AppError('upstream_error', `${method} goes round in circles: a cursor came again.`);
    seen.add(next);
    cursor = next;
  }
  throw new AppError('upstream_error', `${method} did not end within ${MAX_PAGES} pages.`);
}
