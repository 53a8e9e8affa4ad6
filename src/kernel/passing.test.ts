import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { createPassing } from './passing.ts';

test('what comes and goes is listed in the order in which it came', () => {
  const passing = createPassing<string>();
  const leave = ['a', 'b', 'c', 'd'].map((each) => passing.add(each));
  expect(passing.values()).toEqual(['a', 'b', 'c', 'd']);
  leave[1]?.();
  expect(passing.values()).toEqual(['a', 'c', 'd']);
  leave[0]?.();
  leave[3]?.();
  passing.add('e');
  expect([passing.values(), passing.size]).toEqual([['c', 'e'], 2]);
  leave[2]?.();
  expect([passing.values(), passing.size]).toEqual([['e'], 1]);
});

test('what went is told from what goes, and goes once', () => {
  const passing = createPassing<string>();
  const [first, second] = [passing.add('same'), passing.add('same')];
  expect([first(), first(), passing.size]).toEqual([true, false, 1]);
  expect([second(), passing.size, passing.values()]).toEqual([true, 0, []]);
});

test('a list that is walked may lose its items meanwhile', () => {
  const passing = createPassing<() => boolean>();
  const leave: (() => boolean)[] = [];
  for (let i = 0; i < 3; i++) leave.push(passing.add(() => leave.every((each) => each())));
  for (const each of passing.values()) each();
  expect(passing.size).toBe(0);
});

test('what went is named by nothing that is left of it', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const passing = createPassing<object>();
  const before = passing.add({});
  const added = (): { readonly seen: WeakRef<object>; readonly leave: () => boolean } => {
    const item = {};
    return { seen: new WeakRef(item), leave: passing.add(item) };
  };
  const { seen, leave } = added();
  leave();
  await new Promise(setImmediate);
  collect();
  expect(seen.deref()).toBeUndefined();
  expect([before(), leave()]).toEqual([true, false]);
});
