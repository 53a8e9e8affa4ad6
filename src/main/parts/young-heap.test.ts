import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const flags = JSON.stringify(new URL('young-heap.ts', import.meta.url).href);

/** What a program prints that runs a body in a process of its own. */
function printed(body: string): number {
  const source = `import { getHeapSpaceStatistics, getHeapStatistics } from 'node:v8'; ${body}`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' }));
}

/** MiB of room for the young in a process that keeps some hundreds of thousands of objects for a moment. */
function roomFor(first: string): number {
  return printed(`
    ${first}
    let kept = [];
    for (let i = 0; i < 400_000; i++) {
      kept.push({ i, also: [i] });
      if (kept.length > 20_000) kept = [];
    }
    console.log(getHeapSpaceStatistics().find((one) => one.space_name === 'new_space').space_size / 1024 ** 2);
  `);
}

/** MiB that a process has at most among the old, of which some are alive and the rest dies one after another. */
function mostOld(first: string): number {
  return printed(`
    ${first}
    const alive = Array.from({ length: 100_000 }, (_, i) => ({ i, text: 'x' + i }));
    const late = Array(40_000);
    let most = 0;
    for (let i = 0; i < 500_000; i++) {
      late[i % late.length] = { i, also: [i, i, i, i], more: { i } };
      if (i % 1_000 === 0) most = Math.max(most, getHeapSpaceStatistics().find((one) => one.space_name === 'old_space').space_used_size);
    }
    console.log(alive.length > 0 ? most / 1024 ** 2 : 0);
  `);
}

it('the room for what has just been allocated stays small, where it would grow otherwise', () => {
  const kept = roomFor(`(await import(${flags})).keepYoungHeap();`);
  const usual = roomFor('');
  expect(kept).toBeLessThanOrEqual(4);
  expect(usual).toBeGreaterThanOrEqual(8);
});

it('what has died among the old is taken away before it is as much as what lives', () => {
  const kept = mostOld(`(await import(${flags})).keepYoungHeap(); (await import(${flags})).keepOldHeap();`);
  const usual = mostOld(`(await import(${flags})).keepYoungHeap();`);
  expect(kept).toBeLessThan(usual * 0.9);
});
