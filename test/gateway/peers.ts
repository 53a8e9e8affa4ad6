import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Place } from '../helpers/writ-process.ts';

/** Real MCP servers (test/peers, which `npm test` installs), as a configuration names them. */

const PEERS = fileURLToPath(new URL('../peers/node_modules', import.meta.url));
export const CHROMIUM = '/usr/bin/chromium';

export function peers(place: Place): Record<string, object> {
  const files = join(place.workspace, 'files');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'a.txt'), 'one\ntwo\nthree\n');
  writeFileSync(join(files, 'pixel.png'), Buffer.from(PIXEL, 'base64'));
  const node = (file: string, args: readonly string[] = [], more: object = {}): object => ({
    command: 'node',
    args: [join(PEERS, file), ...args],
    network: 'none',
    // What one server says must not make the calls to the next one ask: it is passing on that is looked at here.
    low_impact: true,
    connect_timeout_seconds: 60,
    max_result_chars: 1_000_000,
    ...more,
  });
  const writable = { roots: [{ path: files, access: 'write' }] };
  return {
    everything: node('@modelcontextprotocol/server-everything/dist/index.js', ['stdio'], { roots: [files] }),
    filesystem: node('@modelcontextprotocol/server-filesystem/dist/index.js', [files], writable),
    memory: node('@modelcontextprotocol/server-memory/dist/index.js', [], {
      ...writable,
      env: { MEMORY_FILE_PATH: join(files, 'memory.jsonl') },
    }),
    thinking: node('@modelcontextprotocol/server-sequential-thinking/dist/index.js'),
    context7: node('@upstash/context7-mcp/dist/index.js'),
    dbhub: node('@bytebase/dbhub/dist/index.js', ['--transport', 'stdio', '--demo']),
    playwright: node(
      '@playwright/mcp/cli.js',
      ['--headless', '--no-sandbox', '--isolated', '--executable-path', CHROMIUM, '--output-dir', files],
      { ...writable, dev_shm: true, nested_userns: true, timeout_seconds: 60 },
    ),
  };
}

/** server-everything over Streamable HTTP with sessions, on a port that was free a moment ago. */
export async function everythingOverHttp(): Promise<{ readonly url: string; end(): void }> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  const child = spawn(process.execPath, [join(PEERS, '@modelcontextprotocol/server-everything/dist/index.js'), 'streamableHttp'], {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    child.stderr.setEncoding('utf8').on('data', (said: string) => said.includes(String(port)) && resolve());
    child.on('exit', (code) => reject(new Error(`server-everything ended with ${code}`)));
  });
  return { url: `http://127.0.0.1:${port}/mcp`, end: () => void child.kill() };
}

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
