import { setTimeout } from 'node:timers/promises';
import { connect } from './client.ts';
import type { Place } from './place.ts';
import { descendants, memoryOf, runnerOf } from './processes.ts';
import type { Rows } from './row.ts';

const SETTLE_MS = 3_000;

/** What stays resident while an agent thinks: the server, and after the first command its runner and the sandboxes that wait. */
export async function memory(place: Place): Promise<Rows> {
  const client = await connect(place.program, place.folder('memory/workspace'), place.folder('memory/home'));
  const text = (pids: readonly number[]): string => {
    const each = pids.map(memoryOf);
    const sum = (of: 'resident' | 'share'): string => each.reduce((all, one) => all + one[of], 0).toFixed(0);
    return `${sum('resident')} MiB resident, ${sum('share')} MiB proportional`;
  };
  try {
    await client.request('tools/list', {});
    await setTimeout(SETTLE_MS);
    const idle = text([client.pid]);
    for (let i = 0; i < 5; i++) await client.call('shell', { command: 'true' });
    await setTimeout(SETTLE_MS);
    const runner = runnerOf(client.pid);
    return {
      figures: [
        { what: '`writ mcp` after tools/list, idle', value: idle },
        { what: '`writ mcp` after five commands, idle', value: text([client.pid]) },
        { what: 'its runner', value: text([runner]) },
        { what: 'what waits at the gate (two sandboxes, for 60 s)', value: text(descendants(runner)) },
      ],
    };
  } finally {
    await client.close();
  }
}
