import type { Clock } from '../kernel/clock.ts';
import { AppError, type ErrorCode, toAppError } from '../kernel/errors.ts';
import { HEADER_MISMATCH } from '../kernel/json-rpc/param-headers.ts';
import type { Logger } from '../kernel/logger.ts';
import { createAnnouncing } from './announcing.ts';
import { asCaller } from './as-caller.ts';
import { soundInstructions } from './instructions.ts';
import { createOffered, type OfferKind } from './offered.ts';
import { createPlaces } from './places.ts';
import type { Remembered } from './remembered.ts';
import { repeatedArguments } from './repeated-arguments.ts';
import { createStanding } from './standing.ts';
import { SETTLED } from './states.ts';
import { createToolList } from './tool-list.ts';
import {
  type Change,
  type JsonObject,
  type Relay,
  toConnect,
  type UpstreamSettings,
  type UpstreamStatus,
  type UpstreamTool,
} from './types.ts';
import { createWatching } from './watching.ts';
import type { Carrier } from './wire/carrier.ts';
import { type Era, openClient, type UpstreamClient } from './wire/client.ts';
import type { PeerAnswer, Served } from './wire/exchange.ts';
import { requestInRounds } from './wire/rounds.ts';

/** Whether it may be started at all. */
export type Admission =
  | { readonly ok: true }
  | { readonly ok: false; readonly state: 'needs_approval' | 'needs_install' | 'quarantined'; readonly reason: string };

export interface UpstreamParts {
  readonly settings: UpstreamSettings;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Asked before every start. */
  admit(): Promise<Admission>;
  /** Starts or reaches it. Called once per connection; AppError where it can't be had, with `data.needs_auth` where a person has to log in. */
  open(signal: AbortSignal): Promise<Carrier>;
  /** Waits until it may be started beside the others, and gives back how its place is given to the next. Default: at once. */
  turn?(signal: AbortSignal): Promise<() => void>;
  /** What is installed for it, in words that differ whenever that does. */
  backend?(): string | undefined;
  /** What its tools are for us: hardened, named, pinned, approved or not. */
  vet(definitions: readonly unknown[], signal: AbortSignal): Promise<readonly UpstreamTool[]>;
  readonly served: Served;
  /** What it said the last time. */
  readonly remembered?: Remembered;
  /** Takes secrets out of what is said of it. */
  clean?(text: string): string;
  /** Its tools or its state are others now. */
  changed(): void;
  /** Something that its clients may want to hear. */
  announce(change: Change): void;
  /** Waits before it is tried again; for tests. */
  readonly backoff_ms?: readonly number[];
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeout_ms: number;
  onProgress?(params: JsonObject): void;
  /** The tool that is called, as whoever decided about it saw it: another one of that name is not called. */
  readonly tool?: UpstreamTool;
  /** Whoever is asked in the course of it. */
  readonly scope?: { readonly relay?: Relay };
}

export interface Upstream {
  readonly settings: UpstreamSettings;
  status(): UpstreamStatus;
  tools(): readonly UpstreamTool[];
  /** What it says about how it is used; of the last time while it isn't connected. */
  instructions(): string | undefined;
  /** What is installed for it, as of its last start. */
  backend(): string | undefined;
  client(): UpstreamClient | undefined;
  /** What it offers beside tools, read once per connection and again when it says that it changed. Never rejects: an empty list then. */
  offers(kind: OfferKind): Promise<readonly JsonObject[]>;
  /** Resolves when it is connected or can't be just now; never rejects. One attempt serves everybody who waits. */
  start(): Promise<void>;
  /**
   * The first attempt, which is made now if it wasn't yet; where it is known what it has, that is listed at once and nobody waits, and
   * nobody waits for one that was not ready the last time.
   */
  tried(): Promise<void>;
  request(method: string, params: JsonObject, options: CallOptions): Promise<PeerAnswer>;
  /** Tells when one of its resources has changed, until the function that it gives is called; undefined: it doesn't tell. */
  watch(uri: string, told: () => void, signal: AbortSignal): Promise<(() => void) | undefined>;
  /** The least urgent log line that somebody wants to hear. */
  setLevel(level: string): void;
  /** Judged again: a tool was approved, or something was configured. */
  review(): Promise<void>;
  /** Ends the connection and makes a new one at once. */
  reconnect(): Promise<void>;
  close(): Promise<void>;
}

/** The last one is repeated. */
const BACKOFF_MS: readonly number[] = [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000];
/** After so many failures in a row it is left alone until somebody uses it. */
const MAX_FAILURES = 10;
/** What waiting doesn't mend. */
const FINAL: ReadonlySet<ErrorCode> = new Set([
  'not_found',
  'invalid_arguments',
  'config_invalid',
  'containment_unavailable',
  'backend_unavailable',
]);

/**
 * One upstream: its state, its one connection, its tools. A lost connection is made anew with growing waits; what was being called is
 * never called again.
 */
export function createUpstream(parts: UpstreamParts): Upstream {
  const { settings, clock, logger } = parts;
  const { name } = settings;
  const backoff = parts.backoff_ms ?? BACKOFF_MS;
  const places = createPlaces(settings.concurrency);
  const standing = createStanding({ settings, clock, logger, changed: parts.changed, ...(parts.clean ? { clean: parts.clean } : {}) });
  let failures = 0;
  /** What runs, or did when it was last known. */
  let backend: { readonly version: string | undefined } | undefined;
  const backendOf = (): string | undefined => {
    backend ??= { version: parts.backend?.() };
    return backend.version;
  };
  const said = settings.enabled ? parts.remembered?.read(settings) : undefined;
  /** Not connected before, as far as anybody knows. */
  let never = said === undefined || said.late === true;
  let era: Era | undefined = said?.era;
  let instructions = said?.instructions === undefined ? undefined : soundInstructions(name, said.instructions, logger);
  let client: UpstreamClient | undefined;
  let starting: Promise<void> | undefined;
  let first: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  const announcing = createAnnouncing(parts.announce);
  let idle: NodeJS.Timeout | undefined;
  let asleep = false;
  let using = 0;
  const ended = new AbortController();
  const offered = createOffered({ name, logger, timeout_ms: settings.connect_timeout_ms, ended: ended.signal, client: () => client });
  const watching = createWatching({ name, logger, timeout_ms: settings.connect_timeout_ms, ended: ended.signal });
  const list = createToolList({
    name,
    logger,
    timeout_ms: settings.connect_timeout_ms,
    ended: ended.signal,
    vet: parts.vet,
    client: () => client,
    changed: parts.changed,
    keep,
  });

  const served: Served = {
    request: parts.served.request,
    notification(method, params, scopes) {
      if (method === 'notifications/tools/list_changed') return list.outdated();
      if (method === 'notifications/resources/updated') watching.updated(params['uri']);
      const outdated = offered.outdatedBy(method);
      if (outdated === undefined) parts.served.notification(method, params, scopes);
      else announcing.later(outdated);
    },
  };

  async function connect(): Promise<void> {
    clearTimeout(again);
    const admission = await parts.admit();
    if (ended.signal.aborted) return;
    if (!admission.ok) return standing.skip(admission.state, admission.reason);
    backend = { version: parts.backend?.() };
    standing.move('starting');
    let timeout: AbortSignal | undefined;
    let opened: UpstreamClient | undefined;
    try {
      const release = await parts.turn?.(ended.signal);
      // Whoever waits for others loses none of the time that it may take itself.
      timeout = AbortSignal.timeout(settings.connect_timeout_ms);
      const signal = AbortSignal.any([ended.signal, timeout]);
      const carrier = await parts.open(signal).finally(release);
      opened = await openClient({
        carrier,
        served,
        logger,
        version: parts.version,
        ...(era === undefined ? {} : { era }),
        timeout_ms: settings.connect_timeout_ms,
        signal,
      });
      await list.read(opened, signal);
      signal.throwIfAborted();
    } catch (thrown) {
      await opened?.close();
      if (ended.signal.aborted) return;
      failures++;
      // What it spoke last may be what it doesn't speak any more.
      era = undefined;
      const error = toAppError(thrown);
      if (timeout?.aborted) {
        if (never) void parts.remembered?.write(settings, { tools: [], late: true });
        standing.fail('timeout', `it was not ready within ${settings.connect_timeout_ms / 1000} s (connect_timeout_seconds)`);
      } else if (error.data?.['needs_auth'] !== undefined) standing.fail('needs_auth', error.message);
      else standing.fail('failed', error.message.replace(/ It may have run\.$/, ''));
      if (!FINAL.has(error.code)) tryAgain();
      return;
    }
    client = opened;
    offered.clear();
    era = opened.era;
    const { instructions: now } = opened;
    instructions = now === undefined ? undefined : now === said?.instructions ? instructions : soundInstructions(name, now, logger);
    keep(opened);
    failures = 0;
    const woken = asleep;
    asleep = false;
    standing.move('connected');
    const { length } = list.tools();
    logger.info(`writ: connected MCP server "${name}" (${length} ${length === 1 ? 'tool' : 'tools'})`);
    const current = opened;
    void current.closed.then((why) => {
      lost(current, why);
      standing.dropped(current.counts);
    });
    watching.connected(current);
    // Whoever listed them before it was there has to ask again.
    if (!woken) for (const type of ['prompts', 'resources'] as const) if (type in current.capabilities) parts.announce({ type });
    sleepWhenIdle();
  }

  /** Its credential doesn't hold any more: a person has to log in before it is of use again. */
  async function loggedOut(which: UpstreamClient, why: string): Promise<void> {
    if (client !== which) return;
    client = undefined;
    await which.close();
    standing.fail('needs_auth', why);
  }

  function lost(which: UpstreamClient, why: string): void {
    if (client !== which) return;
    client = undefined;
    if (ended.signal.aborted) return;
    if (asleep) standing.explain('stopped because nobody used it; the next call starts it');
    else {
      standing.lost(`its connection ended: ${why}`);
      tryAgain();
    }
  }

  /** Not all at the same moment, when one machine carries many of them. */
  function tryAgain(): void {
    if (SETTLED.has(standing.state()) || failures > MAX_FAILURES) return;
    const wait = backoff[Math.min(failures, backoff.length - 1)] ?? 0;
    again = setTimeout(() => void start(), wait * (0.75 + Math.random() / 2)).unref();
  }

  function start(): Promise<void> {
    if (client !== undefined || standing.state() === 'disabled' || ended.signal.aborted) return Promise.resolve();
    starting ??= connect()
      .catch((thrown: unknown) => {
        failures++;
        if (standing.state() !== 'starting') standing.move('starting');
        standing.fail('failed', toAppError(thrown).message);
      })
      .finally(() => {
        starting = undefined;
      });
    return starting;
  }

  function sleepWhenIdle(): void {
    clearTimeout(idle);
    if (settings.idle_stop_ms === 0) return;
    idle = setTimeout(() => {
      if (using > 0 || watching.size() > 0 || client === undefined) return sleepWhenIdle();
      asleep = true;
      void client.close();
    }, settings.idle_stop_ms).unref();
  }

  async function live(): Promise<UpstreamClient> {
    if (client === undefined) await start();
    if (client !== undefined) return client;
    throw new AppError('upstream_unavailable', `The MCP server "${name}" is not connected (${standing.state()}): ${standing.why()}.`, {
      fix: toConnect(name, standing.state()),
    });
  }

  function keep({ era: spoken, instructions: now }: UpstreamClient): void {
    never = false;
    void parts.remembered?.write(settings, { era: spoken, instructions: now, tools: [...list.definitions()] });
  }

  /** What it had the last time is listed until it is there; it is called only as it is then. False: nothing is known, or nothing may be. */
  async function recall(): Promise<boolean> {
    if (said === undefined || said.tools.length === 0 || !(await parts.admit()).ok) return false;
    await list.recall(said.tools, () => client === undefined && !SETTLED.has(standing.state()));
    return true;
  }

  return {
    settings,
    status: () => standing.status(list.tools(), client),
    tools: list.tools,
    instructions: () => instructions,
    backend: backendOf,
    client: () => client,
    offers: offered.get,
    start,
    tried() {
      first ??= (async () => {
        const started = start();
        // Whoever waited for it in vain the last time doesn't do so again: its tools are told of when they are there.
        if (!(await recall().catch(() => false)) && said?.late !== true) await started;
      })();
      return first;
    },
    async request(method, params, options) {
      const release = await places.take(options.signal);
      using++;
      try {
        const { timeout_ms, signal, onProgress, scope } = options;
        const current = await live();
        const headers = repeatedArguments(settings, current.era, options.tool, params);
        const given = {
          timeout_ms,
          signal,
          ...(onProgress ? { onProgress } : {}),
          ...(scope ? { scope } : {}),
          ...(headers ? { headers } : {}),
        };
        if (options.tool !== undefined) list.mustBe(options.tool);
        try {
          const asked = current.era === 'stateless' ? asCaller(params, scope?.relay) : params;
          const answer = await requestInRounds({ request: current.request, served: parts.served }, method, asked, given);
          // It wants other headers than its tool said: the next call goes by what it says now.
          if (!answer.ok && answer.error.code === HEADER_MISMATCH) list.outdated();
          return answer;
        } catch (thrown) {
          const { needs_auth, session_gone } = thrown instanceof AppError ? (thrown.data ?? {}) : {};
          if (needs_auth === true) await loggedOut(current, toAppError(thrown).message);
          if (session_gone !== true) throw thrown;
          // It was turned away unread, so it may be said once more, in a session of a new connection.
          await current.closed;
          return await (await live()).request(method, params, given);
        }
      } finally {
        using--;
        release();
        sleepWhenIdle();
      }
    },
    async watch(uri, told, signal) {
      return watching.add(await live(), uri, told, signal);
    },
    setLevel: (level) => watching.level(client, level),
    async review() {
      // It was judged before that began.
      await starting;
      if (SETTLED.has(standing.state()) && settings.enabled) return start();
      const running = client;
      const outdated = parts.backend !== undefined && parts.backend() !== backendOf();
      if (running !== undefined && (outdated || !(await parts.admit()).ok) && client === running) {
        // Somebody said no to what runs, or has installed another one.
        client = undefined;
        await running.close();
        return start();
      }
      await list.review();
    },
    async reconnect() {
      const before = client;
      client = undefined;
      await before?.close();
      failures = 0;
      await start();
    },
    async close() {
      ended.abort(new AppError('cancelled', 'Writ is closing.'));
      clearTimeout(again);
      list.close();
      announcing.close();
      clearTimeout(idle);
      await client?.close();
      await starting;
    },
  };
}
