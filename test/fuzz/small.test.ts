import { afterAll, expect, test } from 'vitest';
import { FIXED_SEED } from '../house/seed.ts';
import { createFindings } from '../soak/kit/findings.ts';
import { createRandom } from '../soak/kit/random.ts';
import { runSession } from '../soak/mcp/room.ts';
import { judge } from '../soak/shell/judge.ts';
import { mutateCommand } from '../soak/shell/mutate.ts';
import { seedCommands } from '../soak/shell/seeds.ts';

/** A little of test/soak/fuzz-*.run.ts on every run of the tests, somewhere else each time but in CI; a failure names its seed. */

const seed = FIXED_SEED ?? Date.now() % 2 ** 31;
afterAll(() => console.log(`fuzz: seed ${seed}`));

test('2,000 mutated frames: each request answered once, nothing but protocol', async () => {
  const findings = createFindings();
  for (let session = 0; session < 20; session++) {
    await runSession(100, createRandom(seed + session), findings, `seed ${seed + session}`);
  }
  expect(findings.texts).toEqual([]);
});

test('2,000 mutated commands: each judged, none waved through for what is wrong with it', () => {
  const findings = createFindings();
  const seeds = seedCommands();
  for (let index = 0; index < 2_000; index++) judge(mutateCommand(seeds, createRandom(seed + index)), findings, `seed ${seed + index}`);
  expect(findings.texts).toEqual([]);
});
