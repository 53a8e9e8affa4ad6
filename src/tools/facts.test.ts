import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createFacts } from './facts.ts';

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-facts-')));
  mkdirSync(join(base, 'bin'));
  writeFileSync(join(base, 'bin', 'tool'), '', { mode: 0o755 });
});

afterEach(() => {
  chmodSync(join(base, 'closed'), 0o700);
  rmSync(base, { recursive: true, force: true });
});

describe('a program is found behind folders of PATH that', () => {
  beforeEach(() => {
    symlinkSync('circle', join(base, 'circle'));
    mkdirSync(join(base, 'closed', 'bin'), { recursive: true });
    chmodSync(join(base, 'closed'), 0o000);
  });

  test.each([
    ['do not exist', () => join(base, 'absent')],
    ['are files', () => join(base, 'bin', 'tool')],
    ['lead in a circle', () => join(base, 'circle')],
    ['have a name that is too long', () => join(base, 'n'.repeat(5000))],
    ['this user may not enter', () => join(base, 'closed', 'bin')],
    ['are relative', () => 'bin'],
    ['have no name', () => ''],
  ])('%s', (_, folder) => {
    expect(createFacts(`${folder()}:${join(base, 'bin')}`).which('tool')).toBe(join(base, 'bin', 'tool'));
    expect(createFacts('').which(join(base, 'bin', 'tool'))).toBe(join(base, 'bin', 'tool'));
    for (const none of [join(base, 'bin', 'absent'), 'bin/tool', './tool'])
      expect(createFacts(join(base, 'bin')).which(none)).toBeUndefined();
  });
});
