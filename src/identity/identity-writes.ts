import { AppError } from '../kernel/errors.ts';
import { type Session, statement } from '../store/index.ts';

/** More of either is a mistake; everything else here is bounded by them. */
const MAX_TOKENS = 1_000;
const MAX_WORKSPACES = 1_000;
const MAX_LINKS = 100;

/** Rows of revoked tokens are kept this long, for lists. */
const KEPT_MS = 90 * 24 * 3_600_000;

interface Count {
  readonly n: number;
}

const countTokens = statement<Record<never, never>, Count>((db) =>
  db.selectFrom('agent_tokens').select((eb) => eb.fn.countAll<number>().as('n')),
);
const countWorkspaces = statement<Record<never, never>, Count>((db) =>
  db.selectFrom('workspaces').select((eb) => eb.fn.countAll<number>().as('n')),
);
const countLinks = statement<Record<never, never>, Count>((db) =>
  db.selectFrom('operator_links').select((eb) => eb.fn.countAll<number>().as('n')),
);
const inForce = statement<{ name: string; now: number }, { id: string }>((db, p) =>
  db
    .selectFrom('agent_tokens')
    .select('id')
    .where('name', '=', p.name)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)])),
);
const retire = statement<{ name: string; now: number }>((db, p) =>
  db.updateTable('agent_tokens').set({ revoked_at: p.now }).where('name', '=', p.name).where('revoked_at', 'is', null),
);
const forget = statement<{ before: number }>((db, p) => db.deleteFrom('agent_tokens').where('revoked_at', '<', p.before));
const insertToken = statement<TokenRow>((db, p) =>
  db.insertInto('agent_tokens').values({
    id: p.id,
    name: p.name,
    hash: p.hash,
    workspaces: p.workspaces,
    toolset: p.toolset,
    attended: p.attended,
    created_at: p.created_at,
    expires_at: p.expires_at,
    revoked_at: null,
    used_at: null,
  }),
);
const touchToken = statement<{ id: string; now: number }>((db, p) =>
  db.updateTable('agent_tokens').set({ used_at: p.now }).where('id', '=', p.id),
);
const workspaceNamed = statement<{ name: string }, { path: string }>((db, p) =>
  db.selectFrom('workspaces').select('path').where('name', '=', p.name),
);
const workspaceAt = statement<{ path: string }, { name: string }>((db, p) =>
  db.selectFrom('workspaces').select('name').where('path', '=', p.path),
);
const insertWorkspace = statement<{ name: string; path: string; now: number }>((db, p) =>
  db.insertInto('workspaces').values({ name: p.name, path: p.path, added_at: p.now }),
);
const deleteWorkspace = statement<{ name: string }>((db, p) => db.deleteFrom('workspaces').where('name', '=', p.name));
const runOf = statement<{ agent: string; workspace: string }, { run: string; used_at: number }>((db, p) =>
  db.selectFrom('agent_runs').select(['run', 'used_at']).where('agent', '=', p.agent).where('workspace', '=', p.workspace),
);
const putRun = statement<{ agent: string; workspace: string; run: string; now: number }>((db, p) =>
  db
    .insertInto('agent_runs')
    .values({ agent: p.agent, workspace: p.workspace, run: p.run, used_at: p.now })
    .onConflict((conflict) => conflict.columns(['agent', 'workspace']).doUpdateSet({ run: p.run, used_at: p.now })),
);
const insertLink = statement<{ hash: Uint8Array; expires_at: number }>((db, p) =>
  db.insertInto('operator_links').values({ hash: p.hash, expires_at: p.expires_at }),
);
const deleteLink = statement<{ hash: Uint8Array; now: number }>((db, p) =>
  db.deleteFrom('operator_links').where('hash', '=', p.hash).where('expires_at', '>', p.now),
);
const deleteOldLinks = statement<{ now: number }>((db, p) => db.deleteFrom('operator_links').where('expires_at', '<=', p.now));

type TokenRow = {
  readonly id: string;
  readonly name: string;
  readonly hash: Uint8Array;
  readonly workspaces: string;
  readonly toolset: string;
  readonly attended: number;
  readonly created_at: number;
  readonly expires_at: number | null;
};

function createToken(session: Session, row: TokenRow): null {
  if (inForce.get(session, { name: row.name, now: row.created_at }) !== undefined) {
    throw new AppError('invalid_arguments', `There is a token "${row.name}" already.`, {
      fix: `\`writ token revoke ${row.name}\` ends it; then make it again.`,
    });
  }
  for (const name of JSON.parse(row.workspaces) as string[]) {
    if (workspaceNamed.get(session, { name }) === undefined) {
      throw new AppError('invalid_arguments', `There is no workspace "${name}".`, { fix: '`writ workspace add NAME PATH` adds one.' });
    }
  }
  // An expired one of that name makes room.
  retire.run(session, { name: row.name, now: row.created_at });
  forget.run(session, { before: row.created_at - KEPT_MS });
  if ((countTokens.get(session, {})?.n ?? 0) >= MAX_TOKENS) throw new AppError('busy', `There are ${MAX_TOKENS} tokens already.`);
  insertToken.run(session, row);
  return null;
}

function addWorkspace(session: Session, row: { readonly name: string; readonly path: string; readonly now: number }): null {
  const named = workspaceNamed.get(session, { name: row.name });
  const at = workspaceAt.get(session, { path: row.path });
  if (named !== undefined || at !== undefined) {
    const message =
      named === undefined ? `${row.path} is the workspace "${at?.name}" already.` : `The workspace "${row.name}" is ${named.path} already.`;
    throw new AppError('invalid_arguments', message, { fix: `\`writ workspace remove ${at?.name ?? row.name}\` takes it away.` });
  }
  if ((countWorkspaces.get(session, {})?.n ?? 0) >= MAX_WORKSPACES)
    throw new AppError('busy', `There are ${MAX_WORKSPACES} workspaces already.`);
  insertWorkspace.run(session, row);
  return null;
}

/** The Run under way, or `fresh` as a new one when nothing was done in it for so long. */
function enterRun(
  session: Session,
  args: { readonly agent: string; readonly workspace: string; readonly fresh: string; readonly now: number; readonly idle_ms: number },
): string {
  const { agent, workspace, fresh, now, idle_ms } = args;
  const found = runOf.get(session, { agent, workspace });
  const run = found !== undefined && found.used_at > now - idle_ms ? found.run : fresh;
  putRun.run(session, { agent, workspace, run, now });
  return run;
}

function makeLink(session: Session, args: { readonly hash: Uint8Array; readonly now: number; readonly expires_at: number }): null {
  deleteOldLinks.run(session, { now: args.now });
  if ((countLinks.get(session, {})?.n ?? 0) >= MAX_LINKS) throw new AppError('busy', `${MAX_LINKS} links wait to be opened already.`);
  insertLink.run(session, { hash: args.hash, expires_at: args.expires_at });
  return null;
}

/** What identity does in the writer thread; main/writer-thread.ts hands it over. */
export const identityWrites = {
  'identity.create_token': createToken,
  'identity.revoke_token': (session: Session, args: { name: string; now: number }): number => retire.run(session, args),
  'identity.touch_token': (session: Session, args: { id: string; now: number }): number => touchToken.run(session, args),
  'identity.add_workspace': addWorkspace,
  'identity.remove_workspace': (session: Session, args: { name: string }): number => deleteWorkspace.run(session, args),
  'identity.enter_run': enterRun,
  'identity.make_link': makeLink,
  /** A link is used by taking it away: whoever is first gets it. */
  'identity.use_link': (session: Session, args: { hash: Uint8Array; now: number }): number => deleteLink.run(session, args),
} as const;

export type IdentityWrites = typeof identityWrites;
