import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { npmInstaller } from './npm.ts';
import type { Installing, Wanted } from './types.ts';

let base: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'writ-npm-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const file = (path: string, text: string): string => {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
  return join(base, path);
};
const wanted = (more: Partial<Wanted> = {}): Wanted => ({ ecosystem: 'npm', specs: ['@s/pkg@^1'], ...more });
const prepared = (host_env: Record<string, string> = {}, more: Partial<Wanted> = {}) => {
  const folder = join(base, 'draft');
  mkdirSync(folder, { recursive: true });
  const parts: Installing = { user_home: base, host_env, has: () => true };
  const run = npmInstaller.prepare(wanted(more), folder, parts);
  return { ...run, npmrc: readFileSync(join(folder, '.npmrc'), 'utf8'), folder };
};

test('no script runs, and of the settings of the person only those of registries count', () => {
  const authorities = file('ca.pem', 'of the company');
  file(
    '.npmrc',
    [
      'registry = https://npm.corp.example/all/',
      `@s:registry="https://scoped.example/"`,
      '//npm.corp.example/all/:_authToken=${'.concat('TOKEN}'),
      'script-shell=/tmp/evil',
      'git=/tmp/evil',
      'ignore-scripts=false',
      'prefix=/tmp/evil',
      '# registry=https://comment.example',
      `cafile=${authorities}`,
    ].join('\n'),
  );
  const { argv, npmrc, network, folder } = prepared({ TOKEN: 'of-the-person' });
  expect(argv).toContain('--ignore-scripts');
  expect(argv.slice(-2)).toEqual(['--', '@s/pkg@^1']);
  expect(npmrc).toBe(
    `registry=https://npm.corp.example/all/\n@s:registry=https://scoped.example/\n//npm.corp.example/all/:_authToken=of-the-person\ncafile=${folder}/.authorities.pem\n`,
  );
  expect(statSync(join(folder, '.npmrc')).mode & 0o777).toBe(0o600);
  expect(network).toEqual({
    hosts: ['npm.corp.example', 'scoped.example'],
    presets: ['npm'],
    own: ['npm.corp.example', 'scoped.example', 'registry.npmjs.org'],
  });
});

test('what lies on this machine or behind a proxy is reached over the network of the machine', () => {
  expect(prepared({}, { registry: 'http://localhost:4873/' })).toMatchObject({ network: 'full' });
  expect(prepared({ NPM_CONFIG_REGISTRY: 'http://127.0.0.1:4873/' })).toMatchObject({ network: 'full' });
  expect(prepared({ HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'x' })).toMatchObject({
    network: 'full',
    env: { HTTPS_PROXY: 'http://proxy.example:3128', NO_PROXY: 'x' },
  });
  expect(() => npmInstaller.prepare(wanted(), base, { user_home: base, host_env: {}, has: () => false })).toThrow('not on the PATH');
});

/** A package as npm leaves it. */
function installed(manifest: object, files: Readonly<Record<string, string>>): string {
  file('package-lock.json', JSON.stringify({ packages: { '': {}, 'node_modules/@s/pkg': { version: '1.2.3', integrity: 'sha512-x' } } }));
  file('.npmrc', '//r/:_authToken=secret');
  file('node_modules/@s/pkg/package.json', JSON.stringify({ name: '@s/pkg', ...manifest }));
  for (const [path, text] of Object.entries(files)) file(`node_modules/@s/pkg/${path}`, text);
  return base;
}
const ROOT = 'node_modules/@s/pkg';

test.each([
  ['the only one', { bin: 'a.js' }, undefined, { type: 'node', script: `${ROOT}/a.js`, flags: [] }],
  ['one of two names', { bin: { x: './a.js', y: 'a.js' } }, undefined, { type: 'node', script: `${ROOT}/a.js`, flags: [] }],
  ['that of its name', { bin: { pkg: 'a.js', other: 'b' } }, undefined, { type: 'node', script: `${ROOT}/a.js`, flags: [] }],
  ['a named one', { bin: { pkg: 'a.js', other: 'b' } }, 'other', { type: 'file', path: `${ROOT}/b` }],
  ['with flags of Node', { bin: 'c' }, undefined, { type: 'node', script: `${ROOT}/c`, flags: ['--no-warnings'] }],
])('the program is the one that npx starts: %s', (_, manifest, bin, program) => {
  const folder = installed(manifest, { 'a.js': '', b: '#!/bin/sh\n', c: '#!/usr/bin/env -S node --no-warnings\n' });
  const found = npmInstaller.read(wanted(bin === undefined ? {} : { bin }), folder);
  expect(found).toMatchObject({ package: '@s/pkg', version: '1.2.3', integrity: 'sha512-x', packages: 1, program });
  expect(found.watched).toHaveLength(3);
  expect(existsSync(join(folder, '.npmrc'))).toBe(false);
});

test('there may be none, and none outside of the folder', () => {
  installed({ bin: { one: 'a.js', two: 'b' } }, { 'a.js': '', b: '' });
  expect(() => npmInstaller.read(wanted(), base)).toThrow('it has: one, two');
  expect(() => npmInstaller.read(wanted({ bin: '../../../bin/sh' }), base)).toThrow('has no program');
  const outside = mkdtempSync(join(tmpdir(), 'writ-npm-outside-'));
  writeFileSync(join(outside, 'x.js'), '');
  symlinkSync(join(outside, 'x.js'), join(base, ROOT, 'link.js'));
  file(`${ROOT}/package.json`, JSON.stringify({ name: '@s/pkg', bin: 'link.js' }));
  expect(() => npmInstaller.read(wanted(), base)).toThrow('has no program');
  rmSync(outside, { recursive: true });
});
