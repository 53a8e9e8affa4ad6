import type { Catalogue } from '../../cli/index.ts';
import { listedTools } from '../../mcp/index.ts';
import { createServing, type ServingParts } from './serving.ts';

/** The tools that an agent of this toolset gets, from a server of its own that starts the other MCP servers once and ends them. */
export async function readCatalogue(
  parts: ServingParts,
  { toolset, whole }: { readonly toolset: string; readonly whole: boolean },
): Promise<Catalogue> {
  const { config } = parts;
  const tools = whole ? { ...config.tools, list_at_most: Number.POSITIVE_INFINITY } : config.tools;
  const serving = await createServing({ ...parts, config: { ...config, tools } });
  try {
    const { gate } = serving.serverParts(toolset);
    const pool = Object.keys(config.mcp_servers).length === 0 ? undefined : (await parts.gateway?.())?.pool;
    const upstreams = pool?.all() ?? [];
    // Each within its connect_timeout_seconds: what it had the last time is not what it has.
    await Promise.all(upstreams.map((upstream) => upstream.start()));
    const missing = upstreams.flatMap((upstream) => {
      const { name, state, reason } = upstream.status();
      return state === 'connected' || state === 'disabled' ? [] : [`"${name}" (${state}): ${reason ?? 'no reason is known'}`];
    });
    const waiting = upstreams.flatMap((upstream) =>
      upstream.tools().flatMap(({ exposed, availability }) => (availability.state === 'needs_approval' ? [exposed] : [])),
    );
    return { tools: listedTools(gate, toolset), missing, waiting };
  } finally {
    await serving.close();
    await (await parts.browsing?.())?.end();
    await (await parts.execution()).close();
    await (await parts.audit()).close();
  }
}
