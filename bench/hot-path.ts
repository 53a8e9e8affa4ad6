import { join } from 'node:path';
import { type Client, connect, start } from './client.ts';
import type { Place } from './place.ts';
import { interleaved, type Rows, spreadOf, timed } from './row.ts';

const ROUNDS = 7;
const CALLS = 200;
const IN_FLIGHT = 32;
const MANY_CALLS = 2_000;

/** A call that executes nothing, through everything else: parsed, decided, recorded before and after, redacted. */
export async function hotPath(place: Place): Promise<Rows> {
  const echo = start([join(import.meta.dirname, 'echo-server.ts')]);
  const writ = await connect(place.program, place.folder('hot/workspace'), place.folder('hot/home'));
  const one = (client: Client): Promise<void> => client.call('job_list', { limit: 5 });
  const medianOf = async (client: Client): Promise<number> => {
    const times: number[] = [];
    for (let i = 0; i < CALLS; i++) times.push(await timed(() => one(client)));
    return spreadOf(times).median;
  };
  const rateOf = async (client: Client): Promise<number> => {
    let left = MANY_CALLS;
    const caller = async (): Promise<void> => {
      while (left-- > 0) await one(client);
    };
    return MANY_CALLS / ((await timed(() => Promise.all(Array.from({ length: IN_FLIGHT }, caller)))) / 1000);
  };
  try {
    const latency = await interleaved(ROUNDS, { floor: () => medianOf(echo), ours: () => medianOf(writ) });
    const rate = await interleaved(ROUNDS, { floor: () => rateOf(echo), ours: () => rateOf(writ) });
    const row = { against: 'a server that echoes lines', rounds: ROUNDS };
    return {
      ratios: [
        { ...row, ...latency, what: '`job_list` over stdio, audited, p50', unit: 'ms' },
        { ...row, ...rate, what: `\`job_list\` over stdio, audited, ${IN_FLIGHT} in flight`, unit: 'calls/s' },
      ],
    };
  } finally {
    await Promise.all([echo.close(), writ.close()]);
  }
}
