import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../kernel/clock.ts';
import type { ProcessFacts } from '../kernel/config/index.ts';
import { AppError, toAppError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import { type Reader, type Store, statement } from '../store/index.ts';
import type { IdentityWrites } from './identity-writes.ts';
import { checkedName } from './names.ts';
import { hashOfToken, newTokenSecret } from './token-secret.ts';
import type { AgentToken, Identity, RegisteredWorkspace } from './types.ts';
import { judgeWorkspace } from './workspaces.ts';

/** A Run ends when nothing was done in it for so long. */
const RUN_IDLE_MS = 8 * 3_600_000;

/** How exact "last used" is, of tokens and Runs. */
const TOUCH_MS = 60_000;

const LINK_MS = 10 * 60_000;

/** Runs known without asking the database; more are asked for again. */
const MAX_KNOWN = 1_000;

export interface IdentityParts {
  readonly store: Pick<Store<IdentityWrites>, 'write'>;
  reader(): Promise<Reader>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly facts: Pick<ProcessFacts, 'cwd' | 'user'>;
  readonly home: string;
}

const FULL = { level: 'full' } as const;
const FULL_ALWAYS = { level: 'full', essential: true } as const;
const NORMAL = { level: 'normal' } as const;

interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly workspaces: string;
  readonly toolset: string;
  readonly attended: number;
  readonly created_at: number;
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly used_at: number | null;
}

const COLUMNS = ['id', 'name', 'workspaces', 'toolset', 'attended', 'created_at', 'expires_at', 'revoked_at', 'used_at'] as const;

const tokenByHash = statement<{ hash: Uint8Array; now: number }, TokenRow>((db, p) =>
  db
    .selectFrom('agent_tokens')
    .select(COLUMNS)
    .where('hash', '=', p.hash)
    .where('revoked_at', 'is', null)
    .where((eb) => eb.or([eb('expires_at', 'is', null), eb('expires_at', '>', p.now)])),
);
const allTokens = statement<Record<never, never>, TokenRow>((db) =>
  db.selectFrom('agent_tokens').select(COLUMNS).orderBy('created_at', 'desc').orderBy('id', 'desc'),
);
const allWorkspaces = statement<Record<never, never>, RegisteredWorkspace>((db) =>
  db.selectFrom('workspaces').select(['name', 'path', 'added_at']).orderBy('name'),
);

/** Agents, their tokens and Workspaces, of one Writ home and shared by all its processes. */
export function createIdentity({ store, reader, clock, logger, facts, home }: IdentityParts): Identity {
  const touched = new Map<string, number>();
  const runs = new Map<string, { readonly run: string; readonly at: number }>();

  const listTokens = async (): Promise<readonly AgentToken[]> => allTokens.all(await reader(), {}).map(tokenOf);
  const listWorkspaces = async (): Promise<readonly RegisteredWorkspace[]> =>
    allWorkspaces.all(await reader(), {}).map(({ name, path, added_at }) => ({ name, path, added_at }));

  return {
    tokens: {
      async create({ name, workspaces, toolset, attended = false, expires_at }) {
        const now = clock.now();
        const names = JSON.stringify([...new Set(workspaces)]);
        const row = {
          name: checkedName(name, 'token'),
          workspaces: names,
          toolset,
          attended: attended ? 1 : 0,
          created_at: now,
          expires_at: expires_at ?? null,
        };
        if (expires_at !== undefined && expires_at <= now) throw new AppError('invalid_arguments', 'The token would have expired already.');
        const secret = newTokenSecret();
        const hash = hashOfToken(secret);
        if (hash === undefined) throw new AppError('internal', 'A new token has not the shape of one.');
        const id = newId('tok', now);
        await store.write('identity.create_token', { ...row, id, hash }, FULL);
        return { token: tokenOf({ ...row, id, revoked_at: null, used_at: null }), secret };
      },
      list: listTokens,
      async revoke(name) {
        const now = clock.now();
        const [found] = (await listTokens()).filter((token) => token.name === name && token.revoked_at === undefined);
        if (found === undefined) return undefined;
        await store.write('identity.revoke_token', { name, now }, FULL_ALWAYS);
        return { ...found, revoked_at: now };
      },
      async find(hash) {
        const row = tokenByHash.get(await reader(), { hash, now: clock.now() });
        return row === undefined ? undefined : tokenOf(row);
      },
      used({ id }) {
        const now = clock.now();
        if (now - (touched.get(id) ?? 0) < TOUCH_MS) return;
        remember(touched, id, now);
        store.write('identity.touch_token', { id, now }, NORMAL).catch((thrown: unknown) => {
          logger.warn('the last use of a token could not be noted', { reason: toAppError(thrown).message });
        });
      },
    },

    workspaces: {
      async add(name, path) {
        const judged = judgeWorkspace(path, facts, home);
        if (!judged.ok) {
          throw new AppError('invalid_arguments', `${judged.shown} can't be a workspace: ${judged.why}.`, {
            fix: 'Name the folder of one project.',
          });
        }
        const now = clock.now();
        await store.write('identity.add_workspace', { name: checkedName(name, 'workspace'), path: judged.path, now }, FULL);
        return { name, path: judged.path, added_at: now };
      },
      list: listWorkspaces,
      async remove(name) {
        const found = (await listWorkspaces()).find((one) => one.name === name);
        if (found !== undefined) await store.write('identity.remove_workspace', { name }, FULL_ALWAYS);
        return found;
      },
    },

    runOf(agent, workspace) {
      const key = `${agent}\n${workspace}`;
      const now = clock.now();
      const known = runs.get(key);
      if (known !== undefined && Math.abs(now - known.at) < TOUCH_MS) return known.run;
      const fresh = newId('run', now);
      return store.write('identity.enter_run', { agent, workspace, fresh, now, idle_ms: RUN_IDLE_MS }, NORMAL).then((run) => {
        remember(runs, key, { run, at: now });
        return run;
      });
    },

    links: {
      async make() {
        const key = randomBytes(32).toString('base64url');
        const now = clock.now();
        await store.write('identity.make_link', { hash: sha256(key), now, expires_at: now + LINK_MS }, FULL);
        return key;
      },
      use: async (key) => (await store.write('identity.use_link', { hash: sha256(key), now: clock.now() }, FULL_ALWAYS)) > 0,
    },
  };
}

function tokenOf(row: TokenRow): AgentToken {
  return {
    id: row.id,
    name: row.name,
    agent: `agent_${row.name}`,
    workspaces: JSON.parse(row.workspaces) as string[],
    toolset: row.toolset,
    attended: row.attended === 1,
    created_at: row.created_at,
    ...(row.expires_at === null ? {} : { expires_at: row.expires_at }),
    ...(row.revoked_at === null ? {} : { revoked_at: row.revoked_at }),
    ...(row.used_at === null ? {} : { used_at: row.used_at }),
  };
}

function sha256(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}

/** Bounded: the one known for longest makes room. */
function remember<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
  const oldest = map.keys().next();
  if (map.size > MAX_KNOWN && !oldest.done) map.delete(oldest.value);
}
