import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readProcess } from '../../kernel/config/index.ts';
import { checkCommand } from './check.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-check-'));
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('round', join(folder, 'round'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const check = (cwd: string, path = '/usr/bin'): string => {
  const facts = { ...readProcess(), host_env: { PATH: path } };
  const policy = { classes: {}, deny: [], prompt: [], allow: [] };
  return checkCommand({ command: 'ls', cwd, facts, home: join(folder, 'home'), policy }).decision.verdict;
};

describe('writ check', () => {
  it('judges whatever stands on the PATH', () => {
    const odd = [join(folder, 'round'), join(folder, 'file'), join(folder, 'x'.repeat(300)), '/usr/bin'].join(':');
    expect(check(folder, odd)).toBe('allow');
  });

  it.each(['file', 'round', 'gone', 'file/below', 'x'.repeat(300)])('refuses to judge in %s and says what to do', (name) => {
    expect(() => check(join(folder, name))).toThrow(
      expect.objectContaining({ code: 'invalid_arguments', fix: expect.stringContaining('folder that exists') }),
    );
  });
});
