import { setTimeout } from 'node:timers/promises';
import { connect } from './client.ts';
import { makeRoom } from './execution.ts';
import type { Place } from './place.ts';
import { rawBubblewrap } from './raw-bubblewrap.ts';
import { interleaved, type Rows, timed } from './row.ts';

const ROUNDS = 15;
const PAUSE_MS = 400;
/** A host has listed the tools, and its model thinks about what to do first. */
const THINK_MS = 1_500;
const IN_A_ROW = 10;

/** The whole path: read, assessed, decided, recorded, contained, seen dead, redacted, answered. */
export async function shellOverMcp(place: Place): Promise<Rows> {
  const room = makeRoom(place, 'mcp');
  const raw = await rawBubblewrap(place, room, 'true');
  await room.execution.close();
  const home = place.folder('mcp/home-of-server');
  const client = await connect(place.program, room.workspace, home);
  const run = (one = client): Promise<void> => one.call('shell', { command: 'true' });
  try {
    const times = await interleaved(ROUNDS, {
      floor: () => timed(raw),
      alone: async () => {
        await run();
        await setTimeout(PAUSE_MS);
        return timed(() => run());
      },
      first: async () => {
        const fresh = await connect(place.program, room.workspace, home);
        await setTimeout(THINK_MS);
        const took = await timed(() => run(fresh));
        await fresh.close();
        return took;
      },
      in_a_row: async () => {
        await setTimeout(PAUSE_MS);
        const took = await timed(async () => {
          for (let i = 0; i < IN_A_ROW; i++) await run();
        });
        await setTimeout(PAUSE_MS);
        return took / IN_A_ROW;
      },
    });
    const row = { against: 'bubblewrap with the same flags + bash', unit: 'ms', floor: times.floor, rounds: ROUNDS };
    return {
      ratios: [
        { ...row, what: '`shell` of `true` over MCP, first of a connection', ours: times.first },
        { ...row, what: '`shell` of `true` over MCP, warm, alone', ours: times.alone },
        { ...row, what: `\`shell\` of \`true\` over MCP, warm, ${IN_A_ROW} back to back, each`, ours: times.in_a_row },
      ],
    };
  } finally {
    await client.close();
  }
}
