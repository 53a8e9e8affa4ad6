import { join } from 'node:path';
import { begin, caller, rateOf, type Served, serve } from './http-client.ts';
import type { Place } from './place.ts';
import { interleaved, type Rows, spreadOf, timed } from './row.ts';

const ROUNDS = 7;
const CALLS = 400;
const IN_FLIGHT = 32;
const MANY_CALLS = 3_000;
const WARM_CALLS = 3_000;

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};
const MODERN = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' };

const ECHO = { name: 'echo', arguments: { text: 'hello' } };

type Call = () => Promise<void>;

/** A call over HTTP that is authorised, decided, redacted and recorded, of a tool that does nothing (DESIGN section 12). */
export async function http(place: Place): Promise<Rows> {
  const floor = await serve([join(import.meta.dirname, 'http-floor.ts')]);
  const ours = await serve([join(import.meta.dirname, 'gate-server.ts'), place.folder('http')]);
  try {
    const ways = {
      floor: caller(floor, ECHO, {}),
      session: caller(ours, ECHO, await begin(ours)),
      stateless: caller(ours, { ...ECHO, _meta: META }, MODERN),
    };
    for (const call of Object.values(ways)) await rateOf(call, WARM_CALLS, IN_FLIGHT);
    const latency = await interleaved(ROUNDS, measures(ways, medianOf));
    const rate = await interleaved(
      ROUNDS,
      measures(ways, (call) => rateOf(call, MANY_CALLS, IN_FLIGHT)),
    );
    const cpu = await interleaved(ROUNDS, {
      floor: () => cpuOf(floor, ways.floor),
      session: () => cpuOf(ours, ways.session),
      stateless: () => cpuOf(ours, ways.stateless),
    });
    const row = { against: 'node:http + one stdio child', rounds: ROUNDS };
    const eras = [
      ['session', 'session (2025-11-25)'],
      ['stateless', 'stateless (2026-07-28)'],
    ] as const;
    return {
      ratios: eras.flatMap(([era, name]) => [
        { ...row, what: `call over HTTP, ${name}, p50`, unit: 'ms', ours: latency[era], floor: latency.floor, target: { most: 2 } },
        {
          ...row,
          what: `the same, ${IN_FLIGHT} in flight`,
          unit: 'calls/s',
          ours: rate[era],
          floor: rate.floor,
          target: { least: 0.6 },
        },
        { ...row, what: 'the same, processor per call (at most 0.3 ms)', unit: 'ms', ours: cpu[era], floor: cpu.floor },
      ]),
    };
  } finally {
    await Promise.all([floor.close(), ours.close()]);
  }
}

function measures<Name extends string>(
  ways: Readonly<Record<Name, Call>>,
  measure: (call: Call) => Promise<number>,
): Record<Name, () => Promise<number>> {
  const names = Object.keys(ways) as Name[];
  return Object.fromEntries(names.map((name) => [name, () => measure(ways[name])])) as Record<Name, () => Promise<number>>;
}

async function medianOf(call: Call): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < CALLS; i++) times.push(await timed(call));
  return spreadOf(times).median;
}

async function cpuOf(server: Served, call: Call): Promise<number> {
  const before = server.cpu();
  await rateOf(call, MANY_CALLS, IN_FLIGHT);
  return (server.cpu() - before) / MANY_CALLS;
}
