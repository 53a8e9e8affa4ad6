import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import { createPlaces } from './places.ts';
import type { Remembered } from './remembered.ts';
import { createServed } from './served.ts';
import type { Change, UpstreamSettings, UpstreamTool } from './types.ts';
import { type Admission, createUpstream, type Upstream } from './upstream.ts';
import { createUpstreams, type Upstreams } from './upstreams.ts';
import type { Carrier } from './wire/carrier.ts';

export interface PoolParts {
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Whether it may be started at all; asked before every start. */
  admit(settings: UpstreamSettings): Promise<Admission>;
  /** Starts or reaches it. */
  open(settings: UpstreamSettings, signal: AbortSignal): Promise<Carrier>;
  /** What is installed for it, in words that differ whenever that does. */
  backend?(settings: UpstreamSettings): string | undefined;
  readonly remembered?: Remembered;
  /** Takes secrets out of what is said of a server. */
  clean?(text: string): string;
  /** What its tools are for us. */
  vet(settings: UpstreamSettings, definitions: readonly unknown[], signal: AbortSignal): Promise<readonly UpstreamTool[]>;
}

/** The upstreams of a process. Whoever configures the same one shares it, whatever agent it serves: they all belong to this user. */
export interface UpstreamPool {
  /** These, in this order, until the view is closed; each is ended with the last view that has it. */
  view(settings: readonly UpstreamSettings[]): UpstreamView;
  /** All that some view has just now. */
  all(): readonly Upstream[];
  /** People have answered: what waited for that is judged again. */
  review(): Promise<void>;
  close(): Promise<void>;
}

export interface UpstreamView extends Upstreams {
  /** Others are configured now: those that are new come, those that are gone or changed are ended, the rest stays as it is. */
  replace(settings: readonly UpstreamSettings[]): Promise<void>;
}

interface Listener {
  changed(): void;
  announce(change: Change): void;
}

interface Shared {
  readonly upstream: Upstream;
  readonly listeners: Set<Listener>;
  views: number;
}

/**
 * Sandboxes that are built at the same time: more would only wait for each other in the kernel (decision 12), and keep this process from
 * answering. What a program does until it is ready is its own affair, and takes no place.
 */
const STARTS_AT_ONCE = 3;

export function createUpstreamPool(parts: PoolParts): UpstreamPool {
  const { version, clock, logger } = parts;
  const open = new Map<string, Shared>();
  const starts = createPlaces(STARTS_AT_ONCE, 'servers are being started');

  function share(key: string, settings: UpstreamSettings): Shared {
    const listeners = new Set<Listener>();
    const announce = (change: Change): void => {
      for (const listener of [...listeners]) listener.announce(change);
    };
    const upstream = createUpstream({
      settings,
      version,
      clock,
      logger,
      admit: () => parts.admit(settings),
      open: (signal) => parts.open(settings, signal),
      ...(settings.transport.type === 'stdio' ? { turn: starts.take } : {}),
      ...(parts.backend === undefined ? {} : { backend: () => parts.backend?.(settings) }),
      vet: (definitions, signal) => parts.vet(settings, definitions, signal),
      served: createServed({ settings, logger, announce }),
      announce,
      ...(parts.remembered === undefined ? {} : { remembered: parts.remembered }),
      ...(parts.clean === undefined ? {} : { clean: parts.clean }),
      changed() {
        for (const listener of [...listeners]) listener.changed();
      },
    });
    const shared = { upstream, listeners, views: 0 };
    open.set(key, shared);
    return shared;
  }

  async function release(key: string, listener: Listener): Promise<void> {
    const shared = open.get(key);
    if (shared === undefined) return;
    shared.listeners.delete(listener);
    shared.views--;
    if (shared.views > 0) return;
    open.delete(key);
    await shared.upstream.close();
  }

  return {
    view(settings) {
      let held = new Map<string, Shared>();
      /** In the order of the configuration; of two that are the very same one. */
      const take = (wanted: readonly UpstreamSettings[]): readonly Upstream[] => {
        held = new Map(
          wanted.map((each) => {
            const key = canonicalJson(each);
            return [key, held.get(key) ?? open.get(key) ?? share(key, each)];
          }),
        );
        return [...held.values()].map(({ upstream }) => upstream);
      };
      const hold = (shared: Shared): void => {
        shared.views++;
        shared.listeners.add(view);
      };
      const view = createUpstreams({
        upstreams: take(settings),
        logger,
        release: async () => void (await Promise.all([...held.keys()].map((key) => release(key, view)))),
      });
      for (const each of held.values()) hold(each);
      return {
        ...view.upstreams,
        async replace(next) {
          const before = held;
          view.replaced(take(next));
          for (const [key, each] of held) {
            if (before.has(key)) continue;
            hold(each);
            void each.upstream.tried();
          }
          await Promise.all([...before.keys()].filter((key) => !held.has(key)).map((key) => release(key, view)));
        },
      };
    },
    all: () => [...open.values()].map(({ upstream }) => upstream),
    async review() {
      await Promise.all([...open.values()].map(({ upstream }) => upstream.review()));
    },
    async close() {
      const all = [...open.values()];
      open.clear();
      await Promise.all(all.map(({ upstream }) => upstream.close()));
    },
  };
}
