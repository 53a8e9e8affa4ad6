import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort, isReady } from './free-port.ts';
import { begin, type Headers, type HttpClient, httpClient } from './http-client.ts';
import type { Place } from './place.ts';

/** The stdio server that everybody passes on to. */
export const ECHO = join(import.meta.dirname, 'echo-mcp.ts');
export const ECHO_ARGUMENTS = { text: 'hello' };
/** As callers of Writ know it. */
export const ECHO_TOOL = 'bench__echo';

/** `writ up` with the echo server behind it, and a client with a session in it. */
export interface UpWithEcho {
  readonly pid: number;
  readonly client: HttpClient;
  readonly headers: Headers;
  close(): Promise<void>;
}

export async function upWithEcho(place: Place, name: string): Promise<UpWithEcho> {
  const [home, workspace] = [place.folder(`${name}/home`), place.folder(`${name}/workspace`)];
  const bench = { command: process.execPath, args: [ECHO], network: 'none' };
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcp_servers: { bench } }));
  const env = { ...process.env, WRIT_HOME: home };
  for (const args of [
    ['workspace', 'add', 'bench', workspace],
    ['token', 'create', 'bench', '--workspace', 'bench'],
  ]) {
    const { status, stderr } = spawnSync(process.execPath, [place.program, ...args], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`writ ${args.join(' ')}: ${stderr}`);
  }
  const port = await freePort();
  const child = spawn(process.execPath, [place.program, 'up', '--port', String(port)], { env, stdio: 'ignore' });
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  while (!(await isReady(port, 'readyz'))) await setTimeout(2);
  const client = httpClient({ port, bearer: readFileSync(join(home, 'tokens', 'bench'), 'utf8').trim() });
  const headers = await begin(client);
  await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
  return {
    pid: child.pid ?? 0,
    client,
    headers,
    async close() {
      client.close();
      child.kill('SIGTERM');
      await ended;
    },
  };
}
