import { isAbsolute } from 'node:path';
import { isObject } from '../../kernel/json-rpc/message.ts';

/** Between a `writ mcp` that relays and the `writ up` that serves it: one line each way, then MCP. */

/** What the commands of an agent depend on of the process that its host started. */
export interface Hello {
  /** Both ends must be the same program: what one version means by a word, another may not. */
  readonly version: string;
  /** The relaying process: its host is never the one who answers its questions. */
  readonly pid: number;
  readonly toolset: string;
  /** `--root`, absolute or relative to `cwd`. */
  readonly roots: readonly string[];
  /** Null when the folder it was started in no longer exists. */
  readonly cwd: string | null;
  readonly env: Readonly<Record<string, string>>;
}

export type Welcome =
  /** `run`: the Run that this connection is; a relay that must go on by itself stays in it. */
  { readonly ok: true; readonly run: string } | { readonly ok: false; readonly message: string };

/** Bytes of either line. An environment is at most a few hundred KiB on Linux. */
export const MAX_HELLO_BYTES = 4 * 1024 * 1024;

/** How long either side waits for the other's line. */
export const HELLO_MS = 5_000;

const MAX_ROOTS = 64;

export function parseHello(line: string): Hello | undefined {
  const value = parse(line);
  if (value === undefined) return undefined;
  const { version, pid, toolset, roots, cwd, env } = value;
  if (typeof version !== 'string' || typeof pid !== 'number' || typeof toolset !== 'string') return undefined;
  if (!Array.isArray(roots) || roots.length > MAX_ROOTS || !roots.every((root) => typeof root === 'string')) return undefined;
  if (cwd !== null && (typeof cwd !== 'string' || !isAbsolute(cwd))) return undefined;
  if (!isObject(env) || !Object.values(env).every((each) => typeof each === 'string')) return undefined;
  return { version, pid, toolset, roots, cwd, env: Object.assign(Object.create(null), env) as Hello['env'] };
}

export function parseWelcome(line: string): Welcome | undefined {
  const value = parse(line);
  if (value?.['ok'] === true && typeof value['run'] === 'string') return { ok: true, run: value['run'] };
  if (value?.['ok'] === false && typeof value['message'] === 'string') return { ok: false, message: value['message'].slice(0, 1_000) };
  return undefined;
}

/** One line of the socket, if it is an object. */
export function parse(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
