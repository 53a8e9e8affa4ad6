import type { Owner } from '../../execution/index.ts';
import { resolveWorkspaces } from '../../identity/index.ts';
import type { ProcessFacts } from '../../kernel/config/index.ts';
import type { Logger } from '../../kernel/logger.ts';
import { type CallScope, type Peer, startedUnattended } from '../../mcp/index.ts';
import type { Serving } from './serving.ts';

/** The local agent: whoever speaks on a stdio connection of this machine's user. */
const LOCAL = { organization: 'org_local', agent: 'agent_local' } as const;

export interface LocalScopeParts {
  readonly serving: Pick<Serving, 'enter'>;
  /** The Run that this connection is. */
  readonly run: string;
  /** `--root`; with any the client's own roots aren't asked for. */
  readonly roots: readonly string[];
  readonly facts: Pick<ProcessFacts, 'cwd' | 'uid' | 'user' | 'host_env'>;
  readonly home: string;
  readonly logger: Logger;
}

/** Where a call of the local agent works, and as whom: one connection, one Run. */
export function localScope({ serving, run, roots, facts, home, logger }: LocalScopeParts): (peer: Peer) => Promise<CallScope> {
  const ownerOf = (workspace: string): Owner => ({ ...LOCAL, run, workspace });
  const warned = new Set<string>();
  const unattended = startedUnattended(facts.host_env);
  return async (peer) => {
    const client_roots = roots.length > 0 ? [] : await peer.roots();
    const resolved = resolveWorkspaces({ roots_flag: roots, client_roots, facts, writ_home: home });
    const primary = resolved.ok ? resolved.workspaces[0]?.path : undefined;
    if (!resolved.ok || primary === undefined) {
      const problem = resolved.ok ? {} : { workspace_problem: { message: resolved.message, fix: resolved.fix } };
      return { owner: ownerOf(''), workspaces: [], ...problem };
    }
    if (!warned.has(primary)) for (const warning of resolved.warnings) logger.warn(warning);
    warned.add(primary);
    await serving.enter(resolved.workspaces);
    return { owner: ownerOf(primary), workspaces: resolved.workspaces, unattended };
  };
}
