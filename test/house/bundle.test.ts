import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'writ-bundle-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('no part of the bundle loads a program, which would start it', () => {
  const dist = join(root, 'dist');
  const programs = readdirSync(join(root, 'src/main')).filter((name) => /(?<!\.test)\.ts$/.test(name));
  const loads = programs.map((name) => new RegExp(`(?:from|import)\\s*\\(?\\s*"\\./${name.replace(/\.ts$/, '')}\\.js"`));
  const files = readdirSync(dist).filter((name) => name.endsWith('.js'));
  expect(files.filter((name) => loads.some((load) => load.test(readFileSync(join(dist, name), 'utf8'))))).toEqual([]);
});

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
