import { chmodSync, mkdtempSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createHomeSigner } from './home-signer.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-signer-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

test('the same home knows its signatures again, another one does not', () => {
  const signature = createHomeSigner(home).sign('text');
  const again = createHomeSigner(home);
  expect(again.verify('text', signature)).toBe(true);
  for (const other of ['', 'x', `${signature}=`, ` ${signature}`, signature.slice(1), signature.replaceAll('_', '/').concat('!')]) {
    expect(again.verify('text', other)).toBe(false);
  }
  expect(again.verify('Text', signature)).toBe(false);
  expect(readdirSync(home)).toEqual(['signing.key']);
  expect(statSync(join(home, 'signing.key')).mode & 0o777).toBe(0o600);
  rmSync(join(home, 'signing.key'));
  expect(createHomeSigner(home).verify('text', signature)).toBe(false);
});

test.each<[string, (file: string) => void, RegExp]>([
  ['others can read', (file) => chmodSync(file, 0o644), /others than its owner/],
  ['is cut', (file) => writeFileSync(file, 'short'), /not a regular file of 32 bytes/],
  [
    'is a link',
    (file) => {
      rmSync(file);
      symlinkSync('/dev/zero', file);
    },
    /can't be used/,
  ],
])('a key that %s is not used', (_name, spoil, says) => {
  createHomeSigner(home).sign('text');
  spoil(join(home, 'signing.key'));
  expect(() => createHomeSigner(home).sign('text')).toThrow(says);
});
