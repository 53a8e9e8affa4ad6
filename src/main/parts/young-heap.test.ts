import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

const flags = JSON.stringify(new URL('young-heap.ts', import.meta.url).href);

/** What a program prints in a process of its own. */
function run(source: string, ...options: readonly string[]): string {
  return execFileSync(process.execPath, [...options, '--input-type=module', '-e', source], { encoding: 'utf8' });
}

/** MiB of room for the young in a process that keeps some hundreds of thousands of objects for a moment. */
function roomFor(first: string): number {
  const source = `
    import { getHeapSpaceStatistics } from 'node:v8';
    ${first}
    let kept = [];
    for (let i = 0; i < 400_000; i++) {
      kept.push({ i, also: [i] });
      if (kept.length > 20_000) kept = [];
    }
    console.log(getHeapSpaceStatistics().find((one) => one.space_name === 'new_space').space_size / 1024 ** 2);
  `;
  return Number(run(source));
}

/** How often the old are collected in a process where much of what dies got that old. */
function collections(first: string): number {
  const source = `
    ${first}
    const alive = Array.from({ length: 300_000 }, (_, i) => ({ i, text: 'x' + i }));
    const late = Array(40_000);
    for (let i = 0; i < 1_000_000; i++) late[i % late.length] = { i, also: [i, i, i, i], more: { i } };
    console.log(alive.length);
  `;
  return run(source, '--trace-gc').split('Mark-Compact').length - 1;
}

it('the room for what has just been allocated stays small, where it would grow otherwise', () => {
  const kept = roomFor(`(await import(${flags})).keepYoungHeap();`);
  const usual = roomFor('');
  expect(kept).toBeLessThanOrEqual(4);
  expect(usual).toBeGreaterThanOrEqual(8);
});

it('what has died among the old is taken away sooner', () => {
  const kept = collections(`(await import(${flags})).keepYoungHeap(); (await import(${flags})).keepOldHeap();`);
  const usual = collections(`(await import(${flags})).keepYoungHeap();`);
  expect(kept).toBeGreaterThan(usual);
});
