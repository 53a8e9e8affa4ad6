import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort, isReady } from './free-port.ts';
import { begin, caller, httpClient, rateOf } from './http-client.ts';
import type { Place } from './place.ts';
import { descendants, memoryOf } from './processes.ts';
import { type Rows, spreadOf } from './row.ts';

const STARTS = 7;
const SETTLE_MS = 3_000;
const CALLS = 100_000;
const IN_FLIGHT = 32;

/** The whole server of a machine: how soon it answers, what it keeps, and a real tool through it. */
export async function up(place: Place): Promise<Rows> {
  const [home, workspace] = [place.folder('up/home'), place.folder('up/workspace')];
  const env = { ...process.env, WRIT_HOME: home };
  const writ = (...args: readonly string[]): void => {
    const { status, stderr } = spawnSync(process.execPath, [place.program, ...args], { env, encoding: 'utf8' });
    if (status !== 0) throw new Error(`writ ${args.join(' ')}: ${stderr}`);
  };
  writ('workspace', 'add', 'bench', workspace);
  writ('token', 'create', 'bench', '--workspace', 'bench');
  const bearer = readFileSync(join(home, 'tokens', 'bench'), 'utf8').trim();

  const start = async (): Promise<{ readonly took: number; readonly port: number; readonly pid: number; close(): Promise<void> }> => {
    const port = await freePort();
    const since = performance.now();
    const child = spawn(process.execPath, [place.program, 'up', '--port', String(port)], { env, stdio: 'ignore' });
    const ended = new Promise<void>((done) => child.on('close', () => done()));
    while (!(await isReady(port))) await setTimeout(2);
    return {
      took: performance.now() - since,
      port,
      pid: child.pid ?? 0,
      async close() {
        child.kill('SIGTERM');
        await ended;
      },
    };
  };

  const starts: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const server = await start();
    starts.push(server.took);
    await server.close();
  }
  const server = await start();
  const client = httpClient({ port: server.port, bearer });
  const resident = (): string => [server.pid, ...descendants(server.pid)].reduce((sum, pid) => sum + memoryOf(pid).resident, 0).toFixed(0);
  try {
    await setTimeout(SETTLE_MS);
    const idle = resident();
    const call = caller(client, { name: 'job_list', arguments: { limit: 5 } }, await begin(client));
    const rate = await rateOf(call, CALLS, IN_FLIGHT);
    const { median, low, high } = spreadOf(starts);
    const ms = (value: number): string => value.toFixed(0);
    return {
      figures: [
        { what: '`writ up` start to first answer (at most 1,500 ms)', value: `${ms(median)} ms (${ms(low)} to ${ms(high)})` },
        { what: '`writ up` and all its processes, idle (at most 150 MiB)', value: `${idle} MiB resident` },
        { what: `the same after ${CALLS} calls (at most 250 MiB)`, value: `${resident()} MiB resident` },
        { what: `\`job_list\` over HTTP, ${IN_FLIGHT} in flight`, value: `${rate.toFixed(0)} calls/s` },
      ],
    };
  } finally {
    client.close();
    await server.close();
  }
}
