import { join } from 'node:path';
import { begin, caller, cpuOfTree, rateOf, serve } from './http-client.ts';
import type { Place } from './place.ts';
import { descendants, memoryOf } from './processes.ts';
import { interleaved, type Rows, spreadOf, timed } from './row.ts';
import { ECHO, ECHO_ARGUMENTS, ECHO_TOOL, upWithEcho } from './up-with-echo.ts';

const ROUNDS = 7;
const CALLS = 400;
const IN_FLIGHT = 32;
const MANY_CALLS = 3_000;
const WARM_CALLS = 3_000;
const LASTING_CALLS = 100_000;
const ABANDONED = 20;

/** A tool of another MCP server through the whole of `writ up`: contained server, gate, limits and label of results, taint, record. */
export async function gateway(place: Place): Promise<Rows> {
  const up = await upWithEcho(place, 'gateway');
  const { pid, client, headers } = up;
  const floor = await serve([join(import.meta.dirname, 'http-floor.ts'), ECHO]);
  try {
    const args = { arguments: ECHO_ARGUMENTS };
    const ways = { ours: caller(client, { name: ECHO_TOOL, ...args }, headers), floor: caller(floor, { name: 'echo', ...args }, {}) };
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
    await Promise.all([up.close(), floor.close()]);
  }
}
