import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { createSealedStore } from '../../identity/index.ts';
import { withFileLock } from '../../kernel/file-lock.ts';
import { LOGIN_NEWS, LOGINS, type LoginKey, type LoginRecord } from './types.ts';

export type LoginRead =
  | { readonly state: 'known'; readonly record: LoginRecord }
  | { readonly state: 'none' }
  /** It is gone, and the others are as they were. */
  | { readonly state: 'corrupt'; readonly why: string };

/** Logins of this home, encrypted one by one; every process of it sees the same. */
export interface Logins {
  read(key: LoginKey): LoginRead;
  /** Other processes look again: a person has logged in or out. */
  announce(): void;
  /**
   * Nobody else changes this login while `work` runs, in any process. `save` replaces it, undefined removes it. AppError busy where
   * somebody else doesn't let go of it within 10 s.
   */
  change<T>(key: LoginKey, work: (now: LoginRecord | undefined, save: (next: LoginRecord | undefined) => void) => Promise<T>): Promise<T>;
}

const recordSchema = z.object({
  client: z.looseObject({ client_id: z.string() }).optional(),
  redirect_uri: z.string().optional(),
  tokens: z.looseObject({ access_token: z.string(), token_type: z.string(), refresh_token: z.string().optional() }).optional(),
  expires_at: z.number().optional(),
  discovery: z.looseObject({ authorizationServerUrl: z.string() }).optional(),
  resource: z.string().optional(),
  since: z.number().optional(),
  wanted_scope: z.string().optional(),
});

/** `learn`: told of every token and secret that is read or kept. */
export function createLogins(home: string, learn: (source: string, secrets: readonly string[]) => void = () => {}): Logins {
  const folder = join(home, LOGINS);
  const store = createSealedStore(home, LOGINS);

  function read(key: LoginKey): LoginRead {
    const found = store.get(nameOf(key));
    if (found.state === 'absent') return { state: 'none' };
    if (found.state === 'corrupt') return found;
    const record = parse(found.value);
    if (record === undefined) return { state: 'corrupt', why: 'it is no login' };
    teach(key, record);
    return { state: 'known', record };
  }

  function teach(key: LoginKey, { tokens, client }: LoginRecord): void {
    const { client_secret } = { client_secret: undefined, ...client };
    const secrets = [client_secret, tokens?.access_token, tokens?.refresh_token, tokens?.id_token];
    learn(
      `login ${nameOf(key)}`,
      secrets.filter((one) => typeof one === 'string'),
    );
  }

  return {
    read,
    announce: () => writeFileSync(join(home, LOGIN_NEWS), '', { mode: 0o600 }),
    async change(key, work) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const name = nameOf(key);
      return withFileLock(join(folder, `.${name}.lock`), async () => {
        const now = read(key);
        return work(now.state === 'known' ? now.record : undefined, (next) => {
          if (next === undefined) store.remove(name);
          else {
            teach(key, next);
            store.set(name, JSON.stringify(next));
          }
        });
      });
    },
  };
}

function nameOf({ name, project, url }: LoginKey): string {
  return createHash('sha256')
    .update(JSON.stringify([name, project, url]))
    .digest('hex')
    .slice(0, 40);
}

function parse(text: string): LoginRecord | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return recordSchema.safeParse(value).success ? (value as LoginRecord) : undefined;
  } catch {
    // Sealed by something else under this name.
    return undefined;
  }
}
