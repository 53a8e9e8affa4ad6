import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { UpstreamSettings } from '../types.ts';
import { lookAt } from './look.ts';
import { digestOf, type InstallRecord } from './records.ts';

const settings = (command: string, args: readonly string[], cwd?: string) =>
  ({
    name: 's',
    transport: { type: 'stdio', command, args, env: {}, ...(cwd === undefined ? {} : { cwd }) },
  }) as unknown as UpstreamSettings;
const none = () => undefined;

test('what it lacks is said with what to do', () => {
  expect(lookAt(settings('npx', ['-y', 'x']), none)).toMatchObject({
    state: 'missing',
    reason: expect.stringContaining('writ upstream install s'),
  });
  expect(lookAt(settings('npx', ['user/x']), none)).toMatchObject({
    state: 'unclear',
    reason: expect.stringContaining('npx -y PACKAGE@VERSION'),
  });
  expect(lookAt(settings('node', ['x.js']), none)).toEqual({ state: 'none' });
});

test('what is installed holds for what was asked for, as long as its files are those', () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-look-'));
  writeFileSync(join(folder, 'lock'), 'all');
  const of = (more: Partial<InstallRecord> = {}) =>
    ({
      wanted: { ecosystem: 'npm', specs: ['x@1'] },
      folder,
      watched: [{ path: 'lock', sha256: digestOf(join(folder, 'lock')) }],
      ...more,
    }) as InstallRecord;
  const look = (spec: string, record: InstallRecord) => lookAt(settings('npx', ['-y', spec, 'a']), () => record);
  expect(look('x@1', of())).toMatchObject({ state: 'installed', args_from: 2 });
  expect(look('x@2', of())).toMatchObject({ state: 'missing', reason: expect.stringContaining('x@2 is not installed; what is, was x@1') });
  expect(look('x@1', of({ folder: join(folder, 'gone') }))).toMatchObject({ state: 'missing' });
  chmodSync(folder, 0o777);
  expect(look('x@1', of())).toMatchObject({ state: 'changed' });
  chmodSync(folder, 0o700);
  writeFileSync(join(folder, 'lock'), 'else');
  expect(look('x@1', of({ watched: [{ path: 'lock', sha256: 'of all' }] }))).toMatchObject({ state: 'changed' });
  rmSync(folder, { recursive: true });
});

test("a program of the project's own is taken, as npx does, unless a version is named", () => {
  const project = mkdtempSync(join(tmpdir(), 'writ-look-'));
  mkdirSync(join(project, 'node_modules/.bin'), { recursive: true });
  writeFileSync(join(project, 'node_modules/.bin/own'), '');
  const below = join(project, 'below');
  expect(lookAt(settings('npx', ['own'], below), none)).toEqual({ state: 'none' });
  expect(lookAt(settings('npx', ['own@1'], below), none)).toMatchObject({ state: 'missing' });
  expect(lookAt(settings('npx', ['other'], below), none)).toMatchObject({ state: 'missing' });
  expect(lookAt(settings('npx', ['own']), none)).toMatchObject({ state: 'missing' });
  rmSync(project, { recursive: true });
});
