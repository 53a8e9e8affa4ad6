import { createHash } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { createOffers, type Offers } from './offers.ts';
import { createTasks, type Tasks } from './tasks.ts';
import type { Change, JsonObject, UpstreamStatus, UpstreamTool } from './types.ts';
import type { CallOptions, Upstream } from './upstream.ts';
import type { PeerAnswer } from './wire/exchange.ts';

/** The upstreams that one server of Writ has, and the one list of their tools. */
export interface Upstreams {
  status(): readonly UpstreamStatus[];
  get(server: string): Upstream | undefined;
  /** By the name that callers use; the same object as long as nothing changed. */
  tools(): ReadonlyMap<string, UpstreamTool>;
  /** Connects those that nobody tried yet, each by itself. Resolves when each of them was tried once, at the latest after `wait_ms`. */
  ready(wait_ms: number): Promise<void>;
  call(tool: UpstreamTool, args: JsonObject, options: Omit<CallOptions, 'timeout_ms' | 'tool'>): Promise<PeerAnswer>;
  readonly offers: Offers;
  readonly tasks: Tasks;
  /** What each says about how it is used, for models; those that have ever been connected. */
  instructions(): readonly { readonly server: string; readonly text: string }[];
  /** What an approval of a call to it is bound to: where it goes, and what the tool was when a person looked. */
  incarnation(tool: UpstreamTool): string;
  /** Told what happens between calls; that the tools changed at most once a turn. */
  onChange(listener: (change: Change) => void): () => void;
  /** Tells when a resource, by the address that callers use, has changed; undefined: nobody has it, or its server doesn't tell. */
  watch(uri: string, told: () => void, signal: AbortSignal): Promise<(() => void) | undefined>;
  /** The least urgent log line that somebody wants to hear. */
  setLevel(level: string): void;
  close(): Promise<void>;
}

export interface UpstreamsParts {
  /** In the order of the configuration. */
  readonly upstreams: readonly Upstream[];
  readonly logger: Logger;
  release(): Promise<void>;
}

export function createUpstreams({ upstreams: first, logger, release }: UpstreamsParts): {
  readonly upstreams: Upstreams;
  changed(): void;
  announce(change: Change): void;
  /** Others are configured now. */
  replaced(upstreams: readonly Upstream[]): void;
} {
  /** Changed in place: what lists resources and prompts looks at the same list. */
  const upstreams = [...first];
  let byName = new Map(upstreams.map((upstream) => [upstream.settings.name, upstream]));
  let level: string | undefined;
  const listeners = new Set<(change: Change) => void>();
  const incarnations = new WeakMap<UpstreamTool, { readonly backend: string | undefined; readonly digest: string }>();
  let known: ReadonlyMap<string, UpstreamTool> | undefined;
  let lists: readonly (readonly UpstreamTool[])[] = upstreams.map((upstream) => upstream.tools());
  let telling = false;

  /** An upstream that comes or goes with the same tools as before is no change to anybody who lists them. */
  function changed(): void {
    const now = upstreams.map((upstream) => upstream.tools());
    if (now.length === lists.length && now.every((list, index) => list === lists[index])) return;
    lists = now;
    known = undefined;
    if (telling) return;
    telling = true;
    queueMicrotask(() => {
      telling = false;
      announce({ type: 'tools' });
    });
  }

  function replaced(next: readonly Upstream[]): void {
    upstreams.splice(0, upstreams.length, ...next);
    byName = new Map(upstreams.map((upstream) => [upstream.settings.name, upstream]));
    if (level !== undefined) for (const upstream of upstreams) upstream.setLevel(level);
    changed();
    for (const type of ['prompts', 'resources'] as const) announce({ type });
  }

  function announce(change: Change): void {
    for (const listener of [...listeners]) listener(change);
  }

  /**
   * The later of two equal names is left out; the order is that of the configuration, so that it is the same one every time. Names that
   * differ in case only are equal: people don't tell them apart.
   */
  function merge(): ReadonlyMap<string, UpstreamTool> {
    const tools = new Map<string, UpstreamTool>();
    const taken = new Map<string, UpstreamTool>();
    for (const upstream of upstreams) {
      for (const tool of upstream.tools()) {
        const folded = tool.exposed.toLowerCase();
        const first = taken.get(folded);
        if (first === undefined) {
          taken.set(folded, tool);
          tools.set(tool.exposed, tool);
        } else
          logger.warn(`the tool "${tool.name}" of "${tool.server}" is left out: "${first.server}" has one of that name`, {
            exposed: tool.exposed,
          });
      }
    }
    return tools;
  }

  const view: Upstreams = {
    offers: createOffers(upstreams),
    tasks: createTasks(),
    instructions: () =>
      upstreams.flatMap((upstream) => {
        const text = upstream.instructions();
        return text === undefined ? [] : [{ server: upstream.settings.name, text }];
      }),
    status: () => upstreams.map((upstream) => upstream.status()),
    get: (server) => byName.get(server),
    tools() {
      known ??= merge();
      return known;
    },
    async ready(wait_ms) {
      const all = Promise.all(upstreams.map((upstream) => upstream.tried()));
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, wait_ms);
      await Promise.race([all, late.promise]);
      clearTimeout(timer);
    },
    async call(tool, args, options) {
      const upstream = byName.get(tool.server);
      if (upstream === undefined) {
        throw new AppError('upstream_unavailable', `The MCP server "${tool.server}" is not configured any more; nothing was sent to it.`);
      }
      const { timeout_ms } = upstream.settings;
      return upstream.request('tools/call', { name: tool.name, arguments: args }, { ...options, tool, timeout_ms });
    },
    incarnation(tool) {
      const upstream = byName.get(tool.server);
      const backend = upstream?.backend();
      const found = incarnations.get(tool);
      if (found !== undefined && found.backend === backend) return found.digest;
      const { transport } = upstream?.settings ?? {};
      const bound = canonicalJson({ server: tool.server, transport, backend, definition: tool.definition });
      const digest = `sha256:${createHash('sha256').update(bound).digest('hex')}`;
      incarnations.set(tool, { backend, digest });
      return digest;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    async watch(uri, told, signal) {
      const owner = await view.offers.ownerOf(uri);
      return owner?.type === 'owner' ? byName.get(owner.server)?.watch(owner.own, told, signal) : undefined;
    },
    setLevel(wanted) {
      level = wanted;
      for (const upstream of upstreams) upstream.setLevel(wanted);
    },
    close: release,
  };
  return { upstreams: view, changed, announce, replaced };
}
