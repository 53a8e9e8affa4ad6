import { makePlace } from '../helpers/writ-process.ts';
import { conclude, createFindings } from './kit/findings.ts';
import { type MemoryWatch, watchMemory } from './kit/memory.ts';
import { readOptions } from './kit/options.ts';
import { createRandom } from './kit/random.ts';
import { residentBytes, runProcess } from './mcp/process.ts';

/** The same mutated frames against the real program: four short connections, one of each kind, and a long one whose memory is watched. */

const { seed, count } = readOptions(4_000);
const findings = createFindings();
const place = makePlace();
let memory: MemoryWatch | undefined;
let lines = 0;
try {
  const short = Math.floor(count / 8);
  for (const [index, revision] of ['2025-11-25', '2025-06-18', '2025-03-26', undefined].entries()) {
    lines += await runProcess(
      short,
      revision,
      place,
      createRandom(seed + index),
      findings,
      `${revision ?? 'no handshake'}`,
      () => undefined,
    );
  }
  lines += await runProcess(count - 4 * short, '2025-11-25', place, createRandom(seed + 9), findings, 'the long one', (pid) => {
    memory = watchMemory(() => residentBytes(pid));
    return memory;
  });
} finally {
  place.remove();
}

console.log(`${count} frames to 5 processes: ${lines} lines came back`);
console.log(`resident memory: ${memory?.report()}`);
const growth = memory?.problem();
if (growth !== undefined) findings.add('memory', growth);
conclude(findings);
