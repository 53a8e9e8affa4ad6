import { parseJsonc } from '../../kernel/config/parse.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import type { ForeignServer, Host } from './types.ts';

export type ForeignFile =
  | { readonly ok: true; readonly servers: readonly ForeignServer[]; readonly host: Host | undefined }
  | { readonly ok: false; readonly why: string };

/**
 * The servers in a file of another program, and whose file it looks like where nobody said. Servers that Claude Code keeps by project come
 * after those of the user; of two with one name the first counts, as there.
 */
export async function readForeign(path: string, text: string, host?: Host): Promise<ForeignFile> {
  const parsed = path.endsWith('.toml') ? await fromToml(text) : fromJson(text);
  if (!parsed.ok) return parsed;
  const { value } = parsed;
  const found = listsIn(value);
  if (found === undefined) return { ok: false, why: 'it has no servers' };
  const servers: ForeignServer[] = [];
  for (const [name, entry] of found.lists.flatMap((list) => Object.entries(list))) {
    if (!servers.some((one) => one.name === name)) servers.push({ name, entry: isObject(entry) ? entry : {} });
  }
  return { ok: true, servers, host: host ?? found.host };
}

function listsIn(
  value: Record<string, unknown>,
): { readonly host: Host | undefined; readonly lists: readonly Record<string, unknown>[] } | undefined {
  const lists = (...all: readonly unknown[]): readonly Record<string, unknown>[] => all.filter(isObject);
  const of = (host: Host | undefined, ...all: readonly unknown[]) => ({ host, lists: lists(...all) });
  if (isObject(value['mcp_servers'])) return of('codex', value['mcp_servers']);
  if (isObject(value['projects'])) {
    const own = Object.values(value['projects']).map((project) => (isObject(project) ? project['mcpServers'] : undefined));
    return of('claude', value['mcpServers'], ...own);
  }
  if (isObject(value['mcpServers'])) return of(undefined, value['mcpServers']);
  if (isObject(value['servers'])) return of('vscode', value['servers']);
  const { mcp } = value;
  if (isObject(mcp)) return isObject(mcp['servers']) ? of('vscode', mcp['servers']) : of('opencode', mcp);
  return undefined;
}

type Parsed = { readonly ok: true; readonly value: Record<string, unknown> } | { readonly ok: false; readonly why: string };

function fromJson(text: string): Parsed {
  const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
  try {
    // Most have no comments, and the histories that some keep beside their servers are long.
    const value: unknown = JSON.parse(plain);
    return isObject(value) ? { ok: true, value } : { ok: false, why: 'it holds no object' };
  } catch {
    const parsed = parseJsonc(plain);
    if (parsed.ok && isObject(parsed.parsed.value)) return { ok: true, value: parsed.parsed.value };
    return { ok: false, why: parsed.ok ? 'it holds no object' : `it ${parsed.problems[0]?.message ?? 'is unreadable'}` };
  }
}

async function fromToml(text: string): Promise<Parsed> {
  const { parse } = await import('smol-toml');
  try {
    return { ok: true, value: parse(text) };
  } catch (thrown) {
    const [first = 'unreadable'] = (thrown instanceof Error ? thrown.message : '').split('\n');
    return { ok: false, why: `it is no valid TOML: ${first}` };
  }
}
