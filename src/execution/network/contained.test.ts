import { createServer as createHttpServer, type Server as HttpServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import { type Bed, makeBed } from '../containment/testing.ts';
import type { Running } from '../core-types.ts';
import { createRunning } from '../running/index.ts';
import type { RunResult, RunSpec } from '../types.ts';
import { makeWorld, type World } from './testing.ts';

let bed: Bed;
let world: World;
let origin: HttpServer;
let running: Running;

beforeAll(async () => {
  bed = makeBed();
  world = makeWorld();
  origin = createHttpServer((request, response) => {
    response.end(`answer to ${request.method} ${request.headers.host} ${request.url}`);
  });
  await new Promise<void>((done) => origin.listen(0, '127.0.0.1', done));
  world.places.set('www.example.com:80', portOf(origin));
  world.places.set('www.example.com:443', portOf(origin));
  running = createRunning(bed.config, systemClock, { makeGuard: world.makeGuard });
});
afterAll(async () => {
  await running.close();
  origin.close();
  bed.remove();
});

const portOf = (server: HttpServer): number => (server.address() as { port: number }).port;

async function run(command: string, more: Partial<RunSpec> = {}): Promise<RunResult> {
  const spec = bed.spec({ command, network: { hosts: ['www.example.com'], presets: [] }, ...more });
  const exec_id = newId('exec');
  const started = await running.start({
    exec_id,
    spec,
    plan: await bed.plan(spec),
    folder: bed.folder(`people/dev/.writ/${exec_id}`),
    durable: false,
    logger: silentLogger,
  });
  return started.done;
}
const text = (result: RunResult): string => result.output.combined.head;

describe('a run with an allow-list', () => {
  it('reaches what is on it, and the receipt counts it', async () => {
    const result = await run(
      'curl -sS http://www.example.com/x; echo; curl -sS --socks5-hostname ${SOCKS_PROXY#*//} http://www.example.com:443/y',
    );
    expect(text(result)).toBe('answer to GET www.example.com /x\nanswer to GET www.example.com:443 /y');
    expect(result.receipt?.network?.allowed).toMatchObject([
      { host: 'www.example.com', port: 80, connections: 1 },
      { host: 'www.example.com', port: 443, connections: 1 },
    ]);
    expect(result.receipt?.containment.dimensions.network).toMatchObject({ state: 'enforced', by: expect.stringContaining('allow-list') });
    expect(result.receipt?.teardown.verified).toBe(true);
  });
});
