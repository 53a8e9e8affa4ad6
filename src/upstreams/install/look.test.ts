import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { UpstreamSettings } from '../types.ts';
import { lookAt } from './look.ts';

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
