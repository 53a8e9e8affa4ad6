import { spawn } from 'node:child_process';
import { connect } from './client.ts';
import type { Place } from './place.ts';
import { interleaved, type Rows, timed } from './row.ts';

const ROUNDS = 25;

/** From starting `writ mcp` to the first answer to tools/list, as the client sees it. */
export async function startup(place: Place): Promise<Rows> {
  const workspace = place.folder('startup/workspace');
  let homes = 0;
  const listIn = async (home: string): Promise<number> => {
    let close = async (): Promise<void> => {};
    const took = await timed(async () => {
      const client = await connect(place.program, workspace, home);
      await client.request('tools/list', {});
      close = client.close;
    });
    await close();
    return took;
  };
  const times = await interleaved(ROUNDS, {
    floor: () => timed(() => new Promise((done) => spawn(process.execPath, ['-e', '0'], { stdio: 'ignore' }).on('close', done))),
    again: () => listIn(place.folder('startup/home')),
    first: () => listIn(place.folder(`startup/home-${homes++}`)),
  });
  const row = { against: '`node -e 0`', unit: 'ms', floor: times.floor, rounds: ROUNDS };
  return {
    ratios: [
      { ...row, what: '`writ mcp` start to first tools/list, no upstreams', ours: times.again, target: { most: 8 } },
      { ...row, what: 'the same for the first time: nothing compiled yet', ours: times.first },
    ],
  };
}
