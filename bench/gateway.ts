import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort, isReady } from './free-port.ts';
import { begin, caller, cpuOfTree, httpClient, rateOf, serve } from './http-client.ts';
import type { Place } from './place.ts';
import { descendants, memoryOf } from './processes.ts';
import { interleaved, type Rows, spreadOf, timed } from './row.ts';

const ROUNDS = 7;
const CALLS = 400;
const IN_FLIGHT = 32;
const MANY_CALLS = 3_000;
const WARM_CALLS = 3_000;
const LASTING_CALLS = 100_000;
const ABANDONED = 20;

/** A tool of another MCP server through the whole of `writ up`: contained server, gate, limits and label of results, taint, record. */
export async function gateway(place: Place): Promise<Rows> {
  const [home, workspace] = [place.folder('gateway/home'), place.folder('gateway/workspace')];
  const echo = join(import.meta.dirname, 'echo-mcp.ts');
  writeFileSync(
    join(home, 'config.json'),
    JSON.stringify({ mcp_servers: { bench: { command: process.execPath, args: [echo], network: 'none' } } }),
  );
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
  const pid = child.pid ?? 0;
  while (!(await isReady(port))) await setTimeout(2);
  const client = httpClient({ port, bearer: readFileSync(join(home, 'tokens', 'bench'), 'utf8').trim() });
  const floor = await serve([join(import.meta.dirname, 'http-floor.ts'), echo]);
  try {
    const headers = await begin(client);
    await client.post({ jsonrpc: '2.0', id: 1, method: 'tools/list' }, headers);
    const args = { arguments: { text: 'hello' } };
    const ways = { ours: caller(client, { name: 'bench__echo', ...args }, headers), floor: caller(floor, { name: 'echo', ...args }, {}) };
    for (const call of Object.values(ways)) await rateOf(call, WARM_CALLS, IN_FLIGHT);
    const median = async (call: () => Promise<void>): Promise<number> => {
      const times: number[] = [];
      for (let i = 0; i < CALLS; i++) times.push(await timed(call));
      return spreadOf(times).median;
    };
    const cpu = async (used: () => number, call: () => Promise<void>): Promise<number> => {
      const before = used();
      await rateOf(call, MANY_CALLS, IN_FLIGHT);
      return (used() - before) / MANY_CALLS;
    };
    const latency = await interleaved(ROUNDS, { ours: () => median(ways.ours), floor: () => median(ways.floor) });
    const rate = await interleaved(ROUNDS, {
      ours: () => rateOf(ways.ours, MANY_CALLS, IN_FLIGHT),
      floor: () => rateOf(ways.floor, MANY_CALLS, IN_FLIGHT),
    });
    const used = await interleaved(ROUNDS, { ours: () => cpu(() => cpuOfTree(pid), ways.ours), floor: () => cpu(floor.cpu, ways.floor) });
    const before = descendants(pid).length;
    for (let i = 0; i < ABANDONED; i++) await begin(client);
    const more = descendants(pid).length - before;
    await rateOf(ways.ours, LASTING_CALLS, IN_FLIGHT);
    const resident = [pid, ...descendants(pid)].reduce((sum, each) => sum + memoryOf(each).resident, 0).toFixed(0);
    const row = { against: 'node:http + the same stdio server', rounds: ROUNDS };
    return {
      ratios: [
        { ...row, what: "an upstream's tool over HTTP, p50", unit: 'ms', ours: latency.ours, floor: latency.floor, target: { most: 2 } },
        { ...row, what: `the same, ${IN_FLIGHT} in flight`, unit: 'calls/s', ours: rate.ours, floor: rate.floor, target: { least: 0.6 } },
        { ...row, what: 'the same, processor per call', unit: 'ms', ours: used.ours, floor: used.floor },
      ],
      figures: [
        { what: `processes more after ${ABANDONED} sessions that nobody ended`, value: String(more) },
        { what: `\`writ up\` with one upstream and all its processes after ${LASTING_CALLS} calls`, value: `${resident} MiB resident` },
      ],
    };
  } finally {
    client.close();
    child.kill('SIGTERM');
    await Promise.all([ended, floor.close()]);
  }
}
