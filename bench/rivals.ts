import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, connect, start } from './client.ts';
import { caller, cpuOfTree, rateOf, serve } from './http-client.ts';
import type { Place } from './place.ts';
import { BRIDGES, type RunningBridge, startBridge } from './rivals/bridges.ts';
import { install, type Package } from './rivals/install.ts';
import { type Figure, interleaved, type Ratio, type Rows, type Spread, spreadOf, timed } from './row.ts';
import { ECHO, ECHO_ARGUMENTS, ECHO_TOOL, upWithEcho } from './up-with-echo.ts';

const ROUNDS = 5;
const CALLS = 300;
const IN_FLIGHT = 32;
const MANY_CALLS = 1_500;
const WARM_CALLS = 1_500;

const MCP_REMOTE: Package = { name: 'mcp-remote', version: '0.15.1' };

/** One way to the same tool. */
interface Way {
  readonly name: string;
  call(): Promise<void>;
  cpu?(): number;
}

/**
 * What else puts one MCP server before another, against Writ: the stdio server on HTTP by `writ up`, mcp-proxy, supergateway, mcp-hub, the floor, and
 * called directly; a server on HTTP for a stdio client by `writ mcp` and mcp-remote. None of the others asks who calls, contains, limits or records.
 */
export async function rivals(place: Place): Promise<Rows> {
  const [bridged, remote] = [await overHttp(place), await overStdio(place)];
  return { ratios: [...bridged.ratios, ...remote.ratios], figures: [...bridged.figures, ...remote.figures] };
}

interface Found {
  readonly ratios: readonly Ratio[];
  readonly figures: readonly Figure[];
}

async function overHttp(place: Place): Promise<Found> {
  const figures: Figure[] = [];
  const running: (RunningBridge & { readonly name: string })[] = [];
  const up = await upWithEcho(place, 'rivals');
  const floor = await serve([join(import.meta.dirname, 'http-floor.ts'), ECHO]);
  const direct = start([ECHO]);
  try {
    for (const bridge of BRIDGES) {
      const name = `${bridge.name} ${bridge.version}, ${bridge.mode}`;
      const program = install(bridge);
      if (program === undefined) figures.push(notInstalled(bridge));
      else running.push({ name, ...(await startBridge(bridge, program, place.folder(`rivals/${bridge.name}`))) });
    }
    const ours: Way = {
      name: 'Writ',
      call: caller(up.client, { name: ECHO_TOOL, arguments: ECHO_ARGUMENTS }, up.headers),
      cpu: () => cpuOfTree(up.pid),
    };
    const others: readonly Way[] = [
      ...running,
      { name: 'node:http + the same stdio server', call: caller(floor, { name: 'echo', arguments: ECHO_ARGUMENTS }, {}), cpu: floor.cpu },
      { name: 'the same stdio server, called directly', call: () => direct.call('echo', ECHO_ARGUMENTS), cpu: () => cpuOfTree(direct.pid) },
    ];
    const names = running.map(({ name }) => name);
    return { ratios: await compare("against others: an upstream's tool over HTTP", ours, others, (name) => names.includes(name)), figures };
  } finally {
    await Promise.all([up.close(), floor.close(), direct.close(), ...running.map((each) => each.close())]);
  }
}

async function overStdio(place: Place): Promise<Found> {
  const program = install(MCP_REMOTE);
  if (program === undefined) return { ratios: [], figures: [notInstalled(MCP_REMOTE)] };
  const server = await serve([join(import.meta.dirname, 'http-echo.ts')]);
  const url = `http://127.0.0.1:${server.port}/mcp`;
  const [home, workspace] = [place.folder('rivals/stdio-home'), place.folder('rivals/stdio-workspace')];
  writeFileSync(join(home, 'config.json'), JSON.stringify({ mcp_servers: { bench: { type: 'http', url } } }));
  const clients: Client[] = [];
  try {
    const ours = await connect(place.program, workspace, home);
    clients.push(ours);
    const theirs = start([program, url, '--allow-http', '--transport', 'http-only'], {
      MCP_REMOTE_CONFIG_DIR: place.folder('rivals/remote'),
    });
    clients.push(theirs);
    const clientInfo = { name: 'bench', version: '1' };
    await theirs.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
    await ours.request('tools/list', {});
    const way = (name: string, client: Client, tool: string): Way => ({
      name,
      call: () => client.call(tool, ECHO_ARGUMENTS),
      cpu: () => cpuOfTree(client.pid),
    });
    const remote = way(`${MCP_REMOTE.name} ${MCP_REMOTE.version}`, theirs, 'echo');
    const what = 'against others: the tool of a server on HTTP for a stdio client';
    return { ratios: await compare(what, way('Writ', ours, ECHO_TOOL), [remote], () => true), figures: [] };
  } finally {
    await Promise.all(clients.map((client) => client.close()));
    await server.close();
  }
}

/** All ways in turn; ours is to be faster than those that are rivals. */
async function compare(what: string, ours: Way, others: readonly Way[], isRival: (name: string) => boolean): Promise<readonly Ratio[]> {
  const ways = [ours, ...others];
  const measured = (measure: (way: Way) => Promise<number>): Promise<Readonly<Record<string, Spread>>> =>
    interleaved(ROUNDS, Object.fromEntries(ways.map((way) => [way.name, () => measure(way)])));
  for (const { call } of ways) await rateOf(call, WARM_CALLS, IN_FLIGHT);
  const latency = await measured(async ({ call }) => {
    const times: number[] = [];
    for (let i = 0; i < CALLS; i++) times.push(await timed(call));
    return spreadOf(times).median;
  });
  const used = new Map<string, number[]>();
  const rate = await measured(async ({ name, call, cpu }) => {
    const before = cpu?.() ?? 0;
    const found = await rateOf(call, MANY_CALLS, IN_FLIGHT);
    used.set(name, [...(used.get(name) ?? []), ((cpu?.() ?? 0) - before) / MANY_CALLS]);
    return found;
  });
  const at = (spreads: Readonly<Record<string, Spread>>, name: string): Spread => spreads[name] ?? spreadOf([]);
  const cpuAt = (name: string): Spread => spreadOf((used.get(name) ?? []).slice(1));
  return others.flatMap(({ name }): readonly Ratio[] => {
    const row = { against: name, rounds: ROUNDS };
    const rival = isRival(name);
    return [
      {
        ...{ ...row, what: `${what}, p50`, unit: 'ms', ours: at(latency, ours.name), floor: at(latency, name) },
        ...(rival ? { target: { most: 1 } } : {}),
      },
      {
        ...{ ...row, what: `the same, ${IN_FLIGHT} in flight`, unit: 'calls/s', ours: at(rate, ours.name), floor: at(rate, name) },
        ...(rival ? { target: { least: 1 } } : {}),
      },
      { ...row, what: 'the same, processor per call', unit: 'ms', ours: cpuAt(ours.name), floor: cpuAt(name) },
    ];
  });
}

function notInstalled({ name, version }: Package): Figure {
  return { what: `against ${name} ${version}`, value: 'not installed: run with network' };
}
