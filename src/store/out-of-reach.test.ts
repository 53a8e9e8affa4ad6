import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openConnection } from './connection.ts';
import { createReserve } from './reserve.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-reach-'));
  symlinkSync('round', join(folder, 'round'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a path that goes round in a circle', () => {
  it.each(['write', 'read'] as const)('is refused as a database with a way out (%s)', async (mode) => {
    const file = join(folder, 'round', 'writ.db');
    await expect(openConnection(file, mode)).rejects.toMatchObject({
      code: 'store_unavailable',
      message: expect.stringContaining(file),
      fix: expect.any(String),
    });
  });

  it('is no reserve, and the next slice takes its place', () => {
    const file = join(folder, 'round');
    const reserve = createReserve(file, 4096);
    expect([reserve.spent(), reserve.release()]).toEqual([false, false]);
    expect(reserve.fill()).toBe(false);
    expect(existsSync(file)).toBe(false);
    reserve.fill();
    expect(statSync(file).size).toBe(4096);
  });
});
