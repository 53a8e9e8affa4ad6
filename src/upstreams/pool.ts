import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
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
  readonly remembered?: Remembered;
  /** What its tools are for us. */
  vet(settings: UpstreamSettings, definitions: readonly unknown[]): Promise<readonly UpstreamTool[]>;
}

/** The upstreams of a process. Whoever configures the same one shares it, whatever agent it serves: they all belong to this user. */
export interface UpstreamPool {
  /** These, in this order, until the view is closed; each is ended with the last view that has it. */
  view(settings: readonly UpstreamSettings[]): Upstreams;
  /** People have answered: what waited for that is judged again. */
  review(): Promise<void>;
  close(): Promise<void>;
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

export function createUpstreamPool(parts: PoolParts): UpstreamPool {
  const { version, clock, logger } = parts;
  const open = new Map<string, Shared>();

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
      vet: (definitions) => parts.vet(settings, definitions),
      served: createServed({ settings, logger, announce }),
      announce,
      ...(parts.remembered === undefined ? {} : { remembered: parts.remembered }),
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
      const keys = settings.map((each) => canonicalJson(each));
      const shared = settings.map((each, index) => open.get(keys[index] ?? '') ?? share(keys[index] ?? '', each));
      const view = createUpstreams({
        upstreams: shared.map(({ upstream }) => upstream),
        logger,
        release: async () => void (await Promise.all(keys.map((key) => release(key, view)))),
      });
      for (const each of shared) {
        each.views++;
        each.listeners.add(view);
      }
      return view.upstreams;
    },
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
