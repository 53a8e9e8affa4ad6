import { closeSync, constants, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Carriers, createCarriers } from './carriers.ts';
import { isRoot, until } from './testing.ts';

let folder: string;
let carriers: Carriers;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-carriers-'));
  carriers = createCarriers(folder);
});
afterEach(() => {
  carriers.close();
  rmSync(folder, { recursive: true });
});

function readAll(fd: number): string {
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

describe('carriers', () => {
  it('lend the same content again and again, each time from its start, and leave no name', () => {
    const lent = [carriers.lend(Buffer.from('options')), carriers.lend(Buffer.from('options')), carriers.lend(Buffer.from('filter'))];
    expect(lent.map(readAll)).toEqual(['options', 'options', 'filter']);
    expect(readAll(carriers.lend(Buffer.from('options')))).toBe('options');
    expect(readdirSync(folder)).toEqual([]);
  });

  it('are for reading only', () => {
    const fd = carriers.lend(Buffer.from('options'));
    expect(() => writeSync(fd, 'x')).toThrow(/EBADF/);
    if (!isRoot) expect(() => openSync(`/proc/self/fd/${fd}`, constants.O_RDWR)).toThrow(/EACCES/);
    closeSync(fd);
  });

  it.runIf(isRoot)('that somebody wrote into all the same are not lent again', async () => {
    const first = carriers.lend(Buffer.from('options'));
    const writable = openSync(`/proc/self/fd/${first}`, constants.O_RDWR);
    await until(() => {
      // Until the clock of the file system has ticked.
      writeSync(writable, 'OPTIONS', 0);
      return readAll(carriers.lend(Buffer.from('options'))) === 'options';
    });
    for (const fd of [first, writable]) closeSync(fd);
  });

  it('are bounded: what was unused for longest is made anew', () => {
    const open = (): number => readdirSync('/proc/self/fd').length;
    for (let i = 0; i < 16; i++) closeSync(carriers.lend(Buffer.from(`content ${i}`)));
    const full = open();
    for (let i = 16; i < 64; i++) closeSync(carriers.lend(Buffer.from(`content ${i}`)));
    expect(open()).toBe(full);
    expect(readAll(carriers.lend(Buffer.from('content 0')))).toBe('content 0');
  });
});
