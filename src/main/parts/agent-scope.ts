import type { WorkspaceBind } from '../../execution/index.ts';
import { type AgentToken, type Identity, judgeWorkspace, resolveWorkspaces } from '../../identity/index.ts';
import type { ProcessFacts } from '../../kernel/config/index.ts';
import type { CallScope, Peer } from '../../mcp/index.ts';
import type { Serving } from './serving.ts';

export interface AgentScopeParts {
  readonly serving: Pick<Serving, 'enter'>;
  readonly identity: Pick<Identity, 'workspaces' | 'runOf'>;
  readonly token: AgentToken;
  /** The Workspace that the address names; undefined: all that the token is bound to. */
  readonly only: string | undefined;
  readonly facts: Pick<ProcessFacts, 'cwd' | 'uid' | 'user'>;
  readonly home: string;
}

/** How long what was found out about the folders of an agent holds. */
const LOOK_AGAIN_MS = 1_000;

type Places = Pick<CallScope, 'workspaces' | 'workspace_problem'>;

/**
 * Where a call of an agent with a token works, and as whom. The client's own roots say nothing here: it may be another machine. The
 * Run is the session's, or that of the agent in its Workspace where the revision knows no sessions.
 */
export function agentScope(parts: AgentScopeParts): (peer: Peer) => CallScope | Promise<CallScope> {
  const { serving, identity, token, only, facts, home } = parts;
  let seen: { readonly at: number; readonly places: Places } | undefined;

  const look = async (now: number): Promise<Places> => {
    const registered = await identity.workspaces.list();
    const names = only === undefined ? token.workspaces : [only];
    const places = placesOf(
      names.flatMap((name) => registered.find((each) => each.name === name) ?? []),
      names,
      facts,
      home,
    );
    await serving.enter(places.workspaces);
    seen = { at: now, places };
    return places;
  };

  const scope = (places: Places, run: string): CallScope => ({
    owner: { organization: 'org_local', agent: token.agent, run, workspace: primaryOf(places) },
    ...places,
    unattended: !token.attended,
  });

  const scopeIn = (places: Places, { session }: Peer): CallScope | Promise<CallScope> => {
    const run = session ?? identity.runOf(token.agent, primaryOf(places));
    return run instanceof Promise ? run.then((found) => scope(places, found)) : scope(places, run);
  };

  // Nearly every call finds everything known, and waits for nothing.
  return (peer) => {
    const now = performance.now();
    if (seen !== undefined && now - seen.at < LOOK_AGAIN_MS) return scopeIn(seen.places, peer);
    return look(now).then((places) => scopeIn(places, peer));
  };
}

function primaryOf({ workspaces }: Places): string {
  return workspaces[0]?.path ?? '';
}

function placesOf(
  found: readonly { readonly name: string; readonly path: string }[],
  names: readonly string[],
  facts: Pick<ProcessFacts, 'cwd' | 'uid' | 'user'>,
  home: string,
): Places {
  const none = (message: string, fix: string): Places => ({ workspaces: [], workspace_problem: { message, fix } });
  if (names.length === 0) {
    return none('This token is bound to no workspace.', 'The operator makes one with `writ token create NAME --workspace WORKSPACE`.');
  }
  if (found.length === 0) {
    return none(`The workspace ${names.join(', ')} of this token is gone.`, 'The operator adds it again with `writ workspace add`.');
  }
  // A folder may have become something else since it was added; the rules hold for what it is now.
  for (const { name, path } of found) {
    const judged = judgeWorkspace(path, facts, home);
    if (!judged.ok) return none(`The workspace "${name}" (${path}) can't be used: ${judged.why}.`, 'The operator puts it in order.');
  }
  const resolved = resolveWorkspaces({ roots_flag: found.map(({ path }) => path), client_roots: [], facts, writ_home: home });
  if (!resolved.ok) return none(resolved.message, resolved.fix);
  return { workspaces: resolved.workspaces satisfies readonly WorkspaceBind[] };
}
