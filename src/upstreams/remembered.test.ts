import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '../kernel/logger.ts';
import { createRemembered, type Facts } from './remembered.ts';
import type { UpstreamSettings } from './types.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'writ-remembered-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const SETTINGS = {
  name: 's',
  transport: { type: 'stdio', command: 'x', args: [], env: {} },
  roots: [],
  network: 'none',
} as unknown as UpstreamSettings;
const FACTS: Facts = { era: 'stateless', instructions: 'Be kind.', tools: [{ name: 'act' }] };
const file = (): string => join(home, 'upstreams', 's.json');

test('what was written is read again, by its owner only', async () => {
  const remembered = createRemembered(home, silentLogger);
  expect(remembered.read(SETTINGS)).toBeUndefined();
  await remembered.write(SETTINGS, FACTS);
  expect(remembered.read(SETTINGS)).toMatchObject(FACTS);
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(statSync(join(home, 'upstreams')).mode & 0o777).toBe(0o700);
  expect(readdirSync(join(home, 'upstreams'))).toEqual(['s.json']);
});

test('of one that was never ready in time, that is all', async () => {
  const remembered = createRemembered(home, silentLogger);
  await remembered.write(SETTINGS, { tools: [], late: true });
  expect(remembered.read(SETTINGS)).toMatchObject({ tools: [], late: true });
  await remembered.write(SETTINGS, FACTS);
  expect(remembered.read(SETTINGS)?.late).toBeUndefined();
});

test('another command, another folder, another project is another server', async () => {
  const remembered = createRemembered(home, silentLogger);
  await remembered.write(SETTINGS, FACTS);
  for (const more of [{ transport: { ...SETTINGS.transport, args: ['y'] } }, { network: 'full' }, { project: '/work' }])
    expect(remembered.read({ ...SETTINGS, ...more } as UpstreamSettings)).toBeUndefined();
});

test('whatever is wrong with it, it is not there, and is written anew', async () => {
  const remembered = createRemembered(home, silentLogger);
  await remembered.write(SETTINGS, FACTS);
  const good = readFileSync(file(), 'utf8');
  const bad = [
    '',
    '{',
    'null',
    '[]',
    good.replace('"version":1', '"version":2'),
    good.replace('"stateless"', '"other"'),
    good.replace('[{', '[{"x":'),
    ' '.repeat(9 * 1024 * 1024),
  ];
  for (const text of bad) {
    writeFileSync(file(), text);
    expect(remembered.read(SETTINGS)).toBeUndefined();
  }
  writeFileSync(file(), good);
  chmodSync(file(), 0o666);
  expect(remembered.read(SETTINGS)).toBeUndefined();
  rmSync(file());
  writeFileSync(join(home, 'elsewhere'), good);
  symlinkSync(join(home, 'elsewhere'), file());
  expect(remembered.read(SETTINGS)).toBeUndefined();
  await remembered.write(SETTINGS, FACTS);
  expect(remembered.read(SETTINGS)).toMatchObject(FACTS);
  expect(readFileSync(join(home, 'elsewhere'), 'utf8')).toBe(good);
});

test('what is too long, or has no place, is not kept, and that is no fault', async () => {
  const remembered = createRemembered(home, silentLogger);
  await remembered.write(SETTINGS, { ...FACTS, tools: ['x'.repeat(9 * 1024 * 1024)] });
  expect(existsSync(file())).toBe(false);
  const blocked = createRemembered(join(home, 'no-folder'), silentLogger);
  mkdirSync(join(home, 'no-folder'));
  writeFileSync(join(home, 'no-folder', 'upstreams'), 'a file in the way');
  await blocked.write(SETTINGS, FACTS);
  expect(blocked.read(SETTINGS)).toBeUndefined();
});
