import { AppError } from '../kernel/errors.ts';
import type { Upstreams } from '../upstreams/index.ts';
import { toConnect, type UpstreamState } from '../upstreams/types.ts';

/** States that end with a person's yes. */
const ASKED: ReadonlySet<UpstreamState> = new Set(['needs_approval', 'quarantined']);

/**
 * Why a tool that is nowhere in the catalogue can't be called, where its name says whose it would be: a model that knows it from a file of the
 * project or from another day is told what to tell its user. Undefined: nobody's, or its server is there and has none of that name.
 */
export function missingTool(name: string, upstreams: Pick<Upstreams, 'get' | 'status'>): AppError | undefined {
  for (const { name: server, state, reason } of upstreams.status()) {
    const prefix = upstreams.get(server)?.settings.prefix ?? '';
    if (prefix === '' || !name.startsWith(`${prefix}__`) || state === 'connected') continue;
    const why = `The MCP server "${server}", whose tool this would be, is not connected (${state}): ${(reason ?? 'no reason is known').replace(/\.$/, '')}.`;
    if (ASKED.has(state))
      return new AppError('tool_unapproved', why, { fix: `Look at it and approve it: writ upstream approve ${server}` });
    return new AppError('upstream_unavailable', why, { fix: toConnect(server, state) });
  }
  return undefined;
}
