import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPlanner } from './containment/planner.ts';
import { makeScratch } from './containment/probe/scratch.ts';
import { isRoot, makeBed } from './containment/testing.ts';
import { sweepLeftovers } from './leftovers.ts';
import { identify } from './running/identity.ts';

let root: string;
let places: { home: string; shared_root: string };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'writ-leftovers-'));
  places = { home: join(root, 'home'), shared_root: join(root, 'shared') };
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** The name part of a process that was here. */
async function deadOwner(): Promise<string> {
  const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] });
  const { start } = identify(child.pid ?? 0) ?? { start: '0' };
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
  return `${child.pid}-${start}`;
}
const livingOwner = (): string => `${process.pid}-${identify(process.pid)?.start}`;

const make = (path: string, content = 'x', old = true): string => {
  const full = join(root, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, content);
  if (old) utimesSync(full, 1, 1);
  return full;
};

describe('what killed processes leave', () => {
  it('goes when its owner is gone or its moment is over, and nothing else does', async () => {
    const dead = await deadOwner();
    const left = [
      make(`home/fifos/${dead}/7`),
      make(`home/fifos/${dead}-0a1b2c/7`),
      make('home/gates/.carrier-0123'),
      make('home/warm/warm_torn', ''),
      make('home/proofs/.self.json.0123'),
      make('home/private/.etc-draft-abc/passwd'),
      make('shared/65534/.etc-draft-abc/passwd'),
    ];
    for (const folder of ['home/private', 'shared/65534']) utimesSync(join(root, folder, '.etc-draft-abc'), 1, 1);
    const kept = [
      make(`home/fifos/${livingOwner()}/7`),
      make(`home/fifos/${livingOwner()}-0a1b2c/7`),
      make('home/fifos/not-ours'),
      make('home/gates/.carrier-young', '', false),
      make('home/gates/other'),
      make('home/warm/warm_whole', '{}'),
      make('home/warm/warm_young', '', false),
      make('home/proofs/self.json'),
      make('home/proofs/.self.json.young', '', false),
      make('home/private/.etc-draft-young/passwd', '', false),
      make('home/private/etc-0123/passwd'),
      make('home/config.json'),
    ];
    sweepLeftovers(places, Date.now());
    sweepLeftovers(places, Date.now());
    expect(left.filter((path) => existsSync(path))).toEqual([]);
    expect(kept.filter((path) => !existsSync(path))).toEqual([]);
  });

  it.skipIf(isRoot)('is passed over where this user may read a folder and not enter it', () => {
    const closed = dirname(make('shared/65534/.etc-draft-abc'));
    const left = make('home/proofs/.self.json.0123');
    chmodSync(closed, 0o444);
    try {
      sweepLeftovers(places, Date.now());
    } finally {
      chmodSync(closed, 0o700);
    }
    expect(existsSync(left)).toBe(false);
  });

  it('of a home that is not there yet is nothing', () => {
    sweepLeftovers(places, Date.now());
  });
});

describe.each(['self', 'dropped'] as const)('a probe that was killed (%s)', (mode) => {
  it.skipIf(mode === 'dropped' && !isRoot)('leaves nothing for long: scratch, bait and private folders go with it', async () => {
    const bed = makeBed();
    try {
      const before = readdirSync(bed.config.home).length;
      const scratch = makeScratch(bed.config, mode);
      const spec = bed.spec({ workspaces: [{ path: scratch.workspace, access: 'write' }] });
      const plan = await createPlanner(bed.config)(spec, true);
      sweepLeftovers(bed.config, Date.now());
      expect([scratch.workspace, scratch.bait, plan.private_home].filter((path) => !existsSync(path))).toEqual([]);

      // As if another process had made it.
      const dead = await deadOwner();
      const renamed = scratch.workspace.replace(livingOwner(), dead);
      renameSync(scratch.workspace, renamed);
      renameSync(scratch.bait, scratch.bait.replace(livingOwner(), dead));
      rmSync(dirname(plan.private_home), { recursive: true });
      const again = await createPlanner(bed.config)(bed.spec({ workspaces: [{ path: renamed, access: 'write' }] }), true);
      expect(existsSync(again.private_home)).toBe(true);
      sweepLeftovers({ ...bed.config, home: bed.base }, Date.now());
      expect(existsSync(renamed)).toBe(true);
      sweepLeftovers(bed.config, Date.now());
      expect([renamed, dirname(again.private_home)].filter((path) => existsSync(path))).toEqual([]);
      expect(readdirSync(bed.config.home).filter((name) => name.startsWith('probe-'))).toEqual([]);
      expect(readdirSync(bed.config.home).length).toBeLessThanOrEqual(before + 1);
    } finally {
      bed.remove();
    }
  });
});
