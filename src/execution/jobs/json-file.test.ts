import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createJson, readJson, writeJson } from './json-file.ts';
import { tempHome } from './testing.ts';

const schema = z.object({ name: z.string() });
const VOLATILE = { durable: false };

describe('json files', () => {
  it('are private, versioned and leave nothing beside them', () => {
    const folder = tempHome();
    writeJson(folder, 'a.json', { name: 'one' }, { durable: true });
    writeJson(folder, 'a.json', { name: 'two' }, VOLATILE);
    expect(readJson(folder, 'a.json', schema)).toEqual({ ok: true, value: { name: 'two' } });
    expect(statSync(join(folder, 'a.json')).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it('are created once: the first stands', () => {
    const folder = tempHome();
    expect(createJson(folder, 'a.json', { name: 'first' }, VOLATILE)).toBe(true);
    expect(createJson(folder, 'a.json', { name: 'second' }, VOLATILE)).toBe(false);
    expect(readJson(folder, 'a.json', schema)).toEqual({ ok: true, value: { name: 'first' } });
    expect(readdirSync(folder)).toEqual(['a.json']);
  });

  it.each([
    ['empty', ''],
    ['cut', '{"version":1,"na'],
    ['another format', '{"version":2,"name":"x"}'],
    ['no format', '{"name":"x"}'],
    ['not an object', '[1]'],
    ['null', 'null'],
    ['another shape', '{"version":1,"name":7}'],
  ])('are unreadable, not absent: %s', (_what, text) => {
    const folder = tempHome();
    writeFileSync(join(folder, 'a.json'), text);
    expect(readJson(folder, 'a.json', schema)).toMatchObject({ ok: false, missing: false, reason: expect.stringContaining('a.json') });
  });

  it('are neither waited for nor followed: FIFO, link, folder, too big', () => {
    const folder = tempHome();
    execFileSync('mkfifo', [join(folder, 'fifo')]);
    writeFileSync(join(folder, 'real'), '{"version":1,"name":"x"}');
    symlinkSync('real', join(folder, 'link'));
    mkdirSync(join(folder, 'folder'));
    writeFileSync(join(folder, 'big'), Buffer.alloc(17 * 1024 * 1024, 0x20));
    for (const name of ['fifo', 'link', 'folder', 'big'])
      expect(readJson(folder, name, schema)).toMatchObject({ ok: false, missing: false });
    expect(readJson(folder, 'nothing', schema)).toMatchObject({ ok: false, missing: true });
  });
});
