import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'writ-lint-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What Biome says about a file of the house that holds this text. */
function lint(file: string, text: string): string {
  for (const name of ['biome.json', '.gitignore']) copyFileSync(join(root, name), join(folder, name));
  mkdirSync(dirname(join(folder, file)), { recursive: true });
  writeFileSync(join(folder, file), text);
  const { stdout, stderr } = spawnSync(join(root, 'node_modules', '.bin', 'biome'), ['lint', '--colors=off', file], {
    cwd: folder,
    encoding: 'utf8',
  });
  rmSync(join(folder, file));
  return stdout + stderr;
}

const READS_ENVIRONMENT = "export const home = process.env['HOME'];\n";

test.each([
  ['noProcessEnv', READS_ENVIRONMENT],
  ['noExplicitAny', 'export function f(x: any): void {\n  x();\n}\n'],
  ['noNonNullAssertion', 'export function f(x: number | undefined): number {\n  return x!;\n}\n'],
  ['noConsole', "console.log('x');\n"],
  ['useNodejsImportProtocol', "export { join } from 'path';\n"],
])('%s sees its planted violation', (rule, text) => {
  expect(lint('src/tools/planted.ts', text)).toContain(rule);
});

test('only kernel/config reads the environment', () => {
  expect(lint('src/kernel/config/process.ts', READS_ENVIRONMENT)).toMatch(/Checked 1 file.*No fixes/);
});
