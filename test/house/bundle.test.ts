import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'writ-bundle-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

// Nothing but a file to parse makes the bundle load its parser of configuration.
test('the bundled program reads a configuration file', () => {
  writeFileSync(join(home, 'config.json'), '{\n  // kept short\n  "audit": { "retention_days": 7 }\n}\n', { mode: 0o600 });
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(root, 'bin/writ.mjs'), 'config', 'check'], {
    encoding: 'utf8',
    cwd: home,
    env: { PATH: process.env['PATH'], WRIT_HOME: home },
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/audit\.retention_days.*7/);
});
