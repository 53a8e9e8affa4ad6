import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../kernel/config/index.ts';
import { selfIdentity } from '../../kernel/self-identity.ts';
import { isAnswered, socketPath } from '../../mcp/index.ts';

/** Where people and agents reach a server: `server.public_url`, else what it listens on. */
export function serverUrl({ host, port, public_url }: Config['server']): string {
  if (public_url !== null) return public_url.replace(/\/+$/, '');
  const everywhere = host === '0.0.0.0' || host === '::';
  return `http://${everywhere ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`;
}

const fileOf = (home: string): string => join(home, 'up.json');

/** Tells other commands of this user where the running `writ up` is; the file is taken away by the returned function. */
export function announce(home: string, url: string): () => void {
  const file = fileOf(home);
  const { pid } = selfIdentity();
  const text = JSON.stringify({ url, pid });
  const temporary = `${file}.${pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, file);
  return () => {
    if (read(file) === text) rmSync(file, { force: true });
  };
}

/** Where the running `writ up` of this home is. Undefined: none answers. */
export async function announced(home: string): Promise<string | undefined> {
  const path = socketPath(home);
  if (path === undefined || !(await isAnswered(path))) return undefined;
  try {
    const { url } = JSON.parse(read(fileOf(home)) ?? '') as { url?: unknown };
    return typeof url === 'string' ? url : undefined;
  } catch {
    return undefined;
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
