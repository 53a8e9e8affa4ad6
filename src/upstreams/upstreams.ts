import { createHash } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Clock } from '../kernel/clock.ts';
import type { Logger } from '../kernel/logger.ts';
import { createServed } from './served.ts';
import type { JsonObject, UpstreamSettings, UpstreamStatus, UpstreamTool } from './types.ts';
import { type Admission, type CallOptions, createUpstream, type Upstream } from './upstream.ts';
import type { Carrier } from './wire/carrier.ts';
import type { PeerAnswer } from './wire/exchange.ts';

export interface UpstreamsParts {
  readonly settings: readonly UpstreamSettings[];
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
  admit(settings: UpstreamSettings): Promise<Admission>;
  open(settings: UpstreamSettings, signal: AbortSignal): Promise<Carrier>;
  vet(settings: UpstreamSettings, definitions: readonly unknown[]): Promise<readonly UpstreamTool[]>;
}

/** All upstreams of one server, and the one list of their tools. */
export interface Upstreams {
  status(): readonly UpstreamStatus[];
  /** By the name that callers use; the same object as long as nothing changed. */
  tools(): ReadonlyMap<string, UpstreamTool>;
  /** Connects what isn't, each by itself. Resolves when every one of them is connected or can't be, at the latest after `wait_ms`. */
  start(wait_ms: number): Promise<void>;
  call(tool: UpstreamTool, args: JsonObject, options: Omit<CallOptions, 'timeout_ms'>): Promise<PeerAnswer>;
  get(server: string): Upstream | undefined;
  /** What an approval of a call to it is bound to: where it goes, and what the tool was when a person looked. */
  incarnation(tool: UpstreamTool): string;
  /** Called after something changed, at most once a turn. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

export function createUpstreams(parts: UpstreamsParts): Upstreams {
  const { clock, logger, version } = parts;
  const listeners = new Set<() => void>();
  let known: ReadonlyMap<string, UpstreamTool> | undefined;
  let telling = false;

  function changed(): void {
    known = undefined;
    if (telling) return;
    telling = true;
    queueMicrotask(() => {
      telling = false;
      for (const listener of [...listeners]) listener();
    });
  }

  const upstreams = new Map(
    parts.settings.map((settings): [string, Upstream] => [
      settings.name,
      createUpstream({
        settings,
        version,
        clock,
        logger,
        admit: () => parts.admit(settings),
        open: (signal) => parts.open(settings, signal),
        vet: (definitions) => parts.vet(settings, definitions),
        served: createServed({ settings, logger, announce: changed }),
        changed,
      }),
    ]),
  );

  /** The later of two equal names is left out; that the order is that of the configuration makes it the same one every time. */
  function merge(): ReadonlyMap<string, UpstreamTool> {
    const tools = new Map<string, UpstreamTool>();
    for (const upstream of upstreams.values()) {
      for (const tool of upstream.tools()) {
        const first = tools.get(tool.exposed);
        if (first === undefined) tools.set(tool.exposed, tool);
        else
          logger.warn(`the tool "${tool.name}" of "${tool.server}" is left out: "${first.server}" has one of that name`, {
            exposed: tool.exposed,
          });
      }
    }
    return tools;
  }

  return {
    status: () => [...upstreams.values()].map((upstream) => upstream.status()),
    tools() {
      known ??= merge();
      return known;
    },
    async start(wait_ms) {
      const all = Promise.all([...upstreams.values()].map((upstream) => upstream.start()));
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, wait_ms);
      await Promise.race([all, late.promise]);
      clearTimeout(timer);
    },
    call(tool, args, options) {
      const upstream = upstreams.get(tool.server);
      if (upstream === undefined) throw new Error(`there is no upstream ${tool.server}`);
      return upstream.request('tools/call', { name: tool.name, arguments: args }, { ...options, timeout_ms: upstream.settings.timeout_ms });
    },
    get: (server) => upstreams.get(server),
    incarnation(tool) {
      const transport = upstreams.get(tool.server)?.settings.transport;
      return `sha256:${createHash('sha256')
        .update(canonicalJson({ server: tool.server, transport, definition: tool.definition }))
        .digest('hex')}`;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async close() {
      await Promise.all([...upstreams.values()].map((upstream) => upstream.close()));
    },
  };
}
