import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';

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
  return Number(execFileSync(process.execPath, ['--input-type=module', '-e', source], { encoding: 'utf8' }));
}

it('the room for what has just been allocated stays small, where it would grow otherwise', () => {
  const kept = roomFor(`(await import(${JSON.stringify(new URL('young-heap.ts', import.meta.url).href)})).keepYoungHeap();`);
  const usual = roomFor('');
  expect(kept).toBeLessThanOrEqual(4);
  expect(usual).toBeGreaterThanOrEqual(8);
});
