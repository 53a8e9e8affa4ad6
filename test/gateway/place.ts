import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type McpProcess, makePlace, type Place } from '../helpers/writ-process.ts';

/** A Writ home whose configuration names these upstreams. */
export function gatewayPlace(servers: (place: Place) => Record<string, object>): Place {
  const place = makePlace();
  mkdirSync(place.home, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcp_servers: servers(place), tools: { list_at_most: 1_000 } }), {
    mode: 0o600,
  });
  return place;
}

/** A server of test/fixtures, copied to where its sandbox sees it. */
export function fixture(place: Place, file: string, args: readonly string[], more: object = {}): object {
  copyFileSync(fileURLToPath(new URL(`../fixtures/${file}`, import.meta.url)), join(place.workspace, file));
  return { command: 'node', args: [file, ...args], cwd: place.workspace, roots: [place.workspace], network: 'none', ...more };
}

/** The fixture of 2026-07-28 over HTTP, on a port of its own. */
export async function httpFixture(): Promise<{ readonly url: string; end(): void }> {
  const file = fileURLToPath(new URL('../fixtures/gateway-server.mjs', import.meta.url));
  const child = spawn(process.execPath, [file, '--era', 'modern', '--http'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout.setEncoding('utf8'), 'data')) as [string];
  return { url: `http://127.0.0.1:${port.trim()}/mcp`, end: () => void child.kill() };
}

/** Waits until these tools are listed: on a busy machine a server may come after the list. */
export async function listed(mcp: Pick<McpProcess, 'ask'>, ...names: readonly string[]): Promise<readonly string[]> {
  for (;;) {
    const { tools } = (await mcp.ask('tools/list')) as { tools: { name: string }[] };
    const all = tools.map(({ name }) => name);
    if (names.every((name) => all.includes(name))) return all;
  }
}

export const META = 'io.modelcontextprotocol/';

/** What a client of 2026-07-28 says with each request. */
export function modern(capabilities: object = {}, more: object = {}): { readonly _meta: object } {
  return {
    _meta: {
      [`${META}protocolVersion`]: '2026-07-28',
      [`${META}clientInfo`]: { name: 'test', version: '1' },
      [`${META}clientCapabilities`]: capabilities,
      ...more,
    },
  };
}

/** The first text of a tool result, which is what the fixtures answer in. */
export function said(result: Record<string, unknown>): string {
  const [first] = (result['content'] ?? []) as { text?: string }[];
  return first?.text ?? JSON.stringify(result);
}
