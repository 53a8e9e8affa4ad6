import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pinImage } from './pins.ts';

const A = `sha256:${'a'.repeat(64)}`;
const B = `sha256:${'b'.repeat(64)}`;
let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-pins-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

it('the first digest of a name counts; each engine and name has its own', () => {
  pinImage(home, 'podman node:24', A, 1);
  pinImage(home, 'podman node:24', A, 2);
  pinImage(home, 'docker node:24', B, 3);
  expect(() => pinImage(home, 'podman node:24', B, 4)).toThrow(/it was sha256:a+ and is sha256:b+ now/);
  pinImage(home, 'podman node:24', A, 5);
});

it('what can not be read refuses, and a removed record is made anew', () => {
  pinImage(home, 'podman node:24', A, 1);
  const folder = join(home, 'containers');
  const [file = ''] = readdirSync(folder);
  writeFileSync(join(folder, file), '{');
  expect(() => pinImage(home, 'podman node:24', A, 2)).toThrow(/can't be read/);
  rmSync(join(folder, file));
  pinImage(home, 'podman node:24', B, 3);
});
