import type { Config, ProcessFacts } from '../../kernel/config/index.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { Foreign } from '../../mcp/index.ts';
import type { Tool } from '../../tools/index.ts';
import type { Change, UpstreamView } from '../../upstreams/index.ts';
import type { Gateway } from './gateway.ts';
import type { ResultParts, Results } from './upstream-results.ts';
import { foreignOffers, upstreamTools } from './upstream-tools.ts';

export interface ServingUpstreamsParts extends ResultParts {
  readonly facts: ProcessFacts;
  readonly redactor: Redactor;
  readonly project?: string | undefined;
  gateway?(): Promise<Gateway>;
}

/** All that there is once there are upstreams. */
export interface Upstreamed {
  readonly upstreams: UpstreamView;
  readonly results: Results;
  readonly offers: Foreign;
  /** For the gate. */
  tools(): ReadonlyMap<string, Tool>;
}

/**
 * The upstreams that one serving has. What they need is 50 MiB, which nobody should pay who has none: it is loaded with the first that a
 * configuration names, whenever that is, and then stays.
 */
export interface ServingUpstreams {
  /** Undefined: no configuration has named one yet. */
  now(): Upstreamed | undefined;
  configure(config: Config): Promise<void>;
  /** Told of what changes, by an upstream or by `announce`. */
  onChange(listener: (change: Change) => void): () => void;
  announce(change: Change): void;
  close(): Promise<void>;
}

export function createServingUpstreams(parts: ServingUpstreamsParts): ServingUpstreams {
  const { facts, project, redactor } = parts;
  const listeners = new Set<(change: Change) => void>();
  let now: Upstreamed | undefined;

  function announce(change: Change): void {
    // A line of a log belongs to no call, so that no gate has seen it.
    const told = change.type === 'log' ? { ...change, params: redactor.value(change.params) as typeof change.params } : change;
    for (const listener of [...listeners]) listener(told);
  }

  async function load({ pool, settingsOf }: Gateway, config: Config): Promise<Upstreamed> {
    const { createResults } = await import('./upstream-results.ts');
    const upstreams = pool.view(settingsOf(config, project));
    upstreams.onChange(announce);
    const results = createResults(parts);
    const tools = upstreamTools(upstreams, results.bound(upstreams.offers), redactor.known);
    return { upstreams, results, offers: foreignOffers(upstreams, redactor.known), tools };
  }

  return {
    now: () => now,
    async configure(config) {
      const none = Object.keys(config.mcp_servers).length === 0;
      if (parts.gateway === undefined || facts.host_env['WRIT_DISABLE_MCP'] === '1' || (now === undefined && none)) return;
      const gateway = await parts.gateway();
      if (now === undefined) now = await load(gateway, config);
      else await now.upstreams.replace(gateway.settingsOf(config, project));
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    announce,
    close: async () => now?.upstreams.close(),
  };
}
