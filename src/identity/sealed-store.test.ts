import { chmodSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSealedStore } from './sealed-store.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-sealed-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const open = () => createSealedStore(home, 'secrets');
const file = (name: string): string => join(home, 'secrets', name);

test('what was set is there for any process of the home, and stands nowhere in clear', () => {
  open().set('github.TOKEN', 'ghp_täglich\n2');
  open().set('other', 'x');
  open().set('other', 'second');
  expect(open().get('github.TOKEN')).toEqual({ state: 'value', value: 'ghp_täglich\n2' });
  expect(open().get('other')).toEqual({ state: 'value', value: 'second' });
  expect(open().list()).toEqual(['github.TOKEN', 'other']);
  expect(readFileSync(file('github.TOKEN')).includes('ghp_')).toBe(false);
  expect(readdirSync(join(home, 'secrets')).sort()).toEqual(['github.TOKEN', 'other']);
  for (const path of [file('other'), join(home, 'secrets.key')]) expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'secrets')).mode & 0o777).toBe(0o700);
  expect(open().remove('other')).toBe(true);
  expect(open().remove('other')).toBe(false);
  expect(open().get('other')).toEqual({ state: 'absent' });
});

test('the same text is never sealed to the same bytes', () => {
  open().set('a', 'same');
  const first = readFileSync(file('a'));
  open().set('a', 'same');
  expect(readFileSync(file('a')).equals(first)).toBe(false);
});

test.each<[string, () => void]>([
  [
    'one byte was changed',
    () =>
      writeFileSync(
        file('a'),
        readFileSync(file('a')).map((byte, at) => (at === 20 ? byte ^ 1 : byte)),
      ),
  ],
  ['it was cut', () => writeFileSync(file('a'), readFileSync(file('a')).subarray(0, -1))],
  ['it is empty', () => writeFileSync(file('a'), '')],
  [
    'it has another format',
    () =>
      writeFileSync(
        file('a'),
        readFileSync(file('a')).map((byte, at) => (at === 0 ? 9 : byte)),
      ),
  ],
  ['it was moved from another name', () => renameSync(file('b'), file('a'))],
  [
    'it is a link',
    () => {
      rmSync(file('a'));
      symlinkSync(file('b'), file('a'));
    },
  ],
  ['it is huge', () => writeFileSync(file('a'), Buffer.alloc(200_000))],
])('%s: that one is corrupt, and no other', (_name, spoil) => {
  open().set('a', 'one');
  open().set('b', 'two');
  open().set('c', 'three');
  spoil();
  expect(open().get('a')).toMatchObject({ state: 'corrupt' });
  expect(open().get('c')).toEqual({ state: 'value', value: 'three' });
  open().set('a', 'again');
  expect(open().get('a')).toEqual({ state: 'value', value: 'again' });
});

test('a lost key is said and no new one is made over what it sealed', () => {
  open().set('a', 'one');
  rmSync(join(home, 'secrets.key'));
  expect(open().get('a')).toEqual({ state: 'corrupt', why: 'secrets.key is gone' });
  expect(() => open().set('b', 'two')).toThrow('is gone');
  open().remove('a');
  open().set('b', 'two');
  expect(open().get('b')).toEqual({ state: 'value', value: 'two' });
});

test('a key that others can read is not used', () => {
  open().set('a', 'one');
  chmodSync(join(home, 'secrets.key'), 0o644);
  expect(() => open().get('a')).toThrow('others than its owner');
});

test.each(['', '.', '..', '.x', 'a/b', '../x', 'a\0b', 'x'.repeat(129)])('no name of a secret: %j', (name) => {
  expect(() => open().set(name, 'value')).toThrow('name of a secret');
  expect(open().get(name)).toEqual({ state: 'absent' });
  expect(open().remove(name)).toBe(false);
});

test('values have 1 to 65536 bytes', () => {
  expect(() => open().set('a', '')).toThrow('bytes');
  expect(() => open().set('a', 'ä'.repeat(32_769))).toThrow('bytes');
  open().set('a', 'ä'.repeat(32_768));
  expect(open().get('a')).toMatchObject({ state: 'value' });
});
