import { createHash } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeRoom } from './execution.ts';
import type { Place } from './place.ts';
import { forgetPeak, peakOf, runnerOf } from './processes.ts';
import { interleaved, type Rows, timed } from './row.ts';

const ROUNDS = 3;
const MIB = 1024 * 1024;
const LARGE = 1024;
const SMALL = 16;

/** Output of a contained command: read, digested, windowed and spooled to the disk, against the digest alone. */
export async function capture(place: Place): Promise<Rows> {
  const room = makeRoom(place, 'capture');
  const zeroes = Buffer.alloc(64 * 1024);
  let digest = '';
  let peak = 0;
  const produce = async (mib: number): Promise<void> => {
    const { output } = await room.run(`head -c ${mib * MIB} /dev/zero`);
    if (output.spooled_bytes !== mib * MIB) throw new Error(`${output.spooled_bytes} bytes were spooled`);
    if (mib === LARGE && output.stdout.sha256 !== digest) throw new Error('the digest is wrong');
    const ended = join(room.config.home, 'runs', 'ended');
    for (const name of readdirSync(ended)) rmSync(join(ended, name), { recursive: true });
  };
  try {
    const times = await interleaved(ROUNDS, {
      floor: async () => {
        const took = await timed(async () => {
          const hash = createHash('sha256');
          for (let i = 0; i < (LARGE * MIB) / zeroes.length; i++) hash.update(zeroes);
          digest = hash.digest('hex');
        });
        return LARGE / (took / 1000);
      },
      ours: async () => {
        await room.run('true');
        const runner = runnerOf(process.pid);
        forgetPeak(runner);
        const took = await timed(() => produce(LARGE));
        peak = Math.max(peak, peakOf(runner));
        return LARGE / (took / 1000);
      },
    });
    const runner = runnerOf(process.pid);
    forgetPeak(runner);
    await produce(SMALL);
    const small = peakOf(runner);
    return {
      ratios: [
        {
          what: 'capture of 1 GiB with digest and spool',
          against: 'sha256 alone',
          unit: 'MiB/s',
          ours: times.ours,
          floor: times.floor,
          target: { least: 0.3 },
          rounds: ROUNDS,
        },
      ],
      figures: [
        {
          what: `highest memory of the runner while it captures ${LARGE} MiB / ${SMALL} MiB`,
          value: `${peak.toFixed(0)} / ${small.toFixed(0)} MiB`,
        },
      ],
    };
  } finally {
    await room.execution.close();
  }
}
