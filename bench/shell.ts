import { setTimeout } from 'node:timers/promises';
import { makeRoom } from './execution.ts';
import type { Place } from './place.ts';
import { rawBubblewrap } from './raw-bubblewrap.ts';
import { interleaved, type Rows, timed } from './row.ts';

const ROUNDS = 25;
/** Long enough for a sandbox to be prepared again, as between two commands of an agent. */
const PAUSE_MS = 400;
/** Commands in one go, for the row that gives nobody time to prepare. */
const IN_A_ROW = 10;

/** The smallest command through the real runner, against bubblewrap with the same options and the same bash. */
export async function shell(place: Place): Promise<Rows> {
  const room = makeRoom(place, 'shell');
  const raw = await rawBubblewrap(place, room, 'true');
  try {
    await room.run('true');
    const times = await interleaved(ROUNDS, {
      floor: () => timed(raw),
      // Nothing waits for a plan like this one, and nothing is prepared for the next.
      cold: () => timed(() => room.run('true', { git_config_write: true })),
      alone: async () => {
        await room.run('true');
        await setTimeout(PAUSE_MS);
        return timed(() => room.run('true'));
      },
      in_a_row: async () => {
        await setTimeout(PAUSE_MS);
        const took = await timed(async () => {
          for (let i = 0; i < IN_A_ROW; i++) await room.run('true');
        });
        await setTimeout(PAUSE_MS);
        return took / IN_A_ROW;
      },
    });
    const against = 'bubblewrap with the same flags + bash';
    const row = { against, unit: 'ms', floor: times.floor, rounds: ROUNDS };
    return {
      ratios: [
        { ...row, what: 'contained `true`, cold', ours: times.cold, target: { most: 1.3 } },
        { ...row, what: 'contained `true`, warm, alone', ours: times.alone, target: { most: 0.4 } },
        { ...row, what: `contained \`true\`, warm, ${IN_A_ROW} back to back, each`, ours: times.in_a_row, target: { most: 0.7 } },
      ],
    };
  } finally {
    await room.execution.close();
  }
}
