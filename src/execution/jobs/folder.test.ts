import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { admit, BOUNDS } from './admission.ts';
import { createFolder, endFolder, fillJob, look, readSpec, spooledBytes } from './folder.ts';
import { folderOf } from './layout.ts';
import { FILES } from './records.ts';
import { exitedWith, makeJob, makeRun, OWNER, passGate, STARTER, specOf, takeBy, tempLayout } from './testing.ts';

describe('the folder of an execution', () => {
  it('is private and gives back the spec it was made from', () => {
    const layout = tempLayout();
    const stdin = new Uint8Array([0, 255, 10, 13]);
    const spec = specOf({ command: "echo 'ä\u2028\ud83d\ude00'", stdin, pty: { cols: 80, rows: 24 }, description: 'x' });
    const exec_id = newId<'exec'>('exec');
    const folder = createFolder(layout.runs, { exec_id, spec, starter: STARTER, now: 1 }, () => {});
    const sight = look(folder);
    if (sight.type !== 'open') throw new Error(sight.type);
    expect(readSpec(folder, sight.spec)).toEqual(spec);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    for (const name of readdirSync(folder)) expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
  });

  it('goes from starting to running to ended as its files appear', () => {
    const { folder, exec_id } = makeJob(tempLayout());
    expect(look(folder)).toMatchObject({ type: 'open', state: 'starting', holder: undefined });
    takeBy(folder);
    expect(look(folder)).toMatchObject({ type: 'open', state: 'starting', holder: { type: 'runner' } });
    passGate(folder, exec_id);
    expect(look(folder)).toMatchObject({ type: 'open', state: 'running' });
    expect(endFolder(folder, 'running', exitedWith(3), 9, { durable: true })).toBe(true);
    expect(look(folder)).toMatchObject({ type: 'ended', ended: { at: 9, result: exitedWith(3) } });
    expect(existsSync(join(folder, FILES.reserve))).toBe(false);
  });

  it('ends once: the first end stands', () => {
    const { folder } = makeRun(tempLayout());
    expect(endFolder(folder, 'running', exitedWith(1), 1, { durable: false })).toBe(true);
    expect(endFolder(folder, 'running', exitedWith(2), 2, { durable: false })).toBe(false);
    expect(look(folder)).toMatchObject({ ended: { result: { outcome: { exit_code: 1 } } } });
  });

  it('refuses an end that the table does not know', () => {
    const { folder } = makeRun(tempLayout());
    expect(() => endFolder(folder, 'starting', exitedWith(0), 1, { durable: false })).toThrow(/can't become exited/);
  });

  it('is made whole or not at all', () => {
    const layout = tempLayout();
    const birth = { exec_id: newId<'exec'>('exec'), spec: specOf(), starter: STARTER, now: 1 };
    const refuse = (): never => {
      throw new AppError('busy', 'no');
    };
    expect(() => createFolder(layout.runs, birth, refuse)).toThrow('no');
    expect(readdirSync(layout.runs)).toEqual(['ended']);
  });

  it.each([FILES.spec, FILES.owner, FILES.result, FILES.job])('is unreadable with a damaged %s, and says so', (name) => {
    const { folder, exec_id } = makeJob(tempLayout());
    takeBy(folder);
    passGate(folder, exec_id);
    writeFileSync(join(folder, name), '{"version":1,');
    expect(look(folder)).toMatchObject({ type: 'unreadable', reason: expect.stringContaining(name), owner: OWNER });
  });

  it('is unreadable, and neither fails nor counts as never started, when its identity leads nowhere', () => {
    const { folder } = makeJob(tempLayout());
    takeBy(folder);
    symlinkSync(FILES.identity, join(folder, FILES.identity));
    expect(look(folder)).toMatchObject({ type: 'unreadable', reason: expect.stringContaining(FILES.identity), owner: OWNER });
  });

  it('holds no output where its spool leads nowhere', () => {
    const { folder } = makeJob(tempLayout());
    rmSync(join(folder, FILES.output), { force: true });
    symlinkSync(FILES.output, join(folder, FILES.output));
    expect(spooledBytes(folder)).toBe(0);
  });

  it('is unreadable when its files belong to another execution', () => {
    const layout = tempLayout();
    const a = makeRun(layout);
    const b = makeRun(layout);
    writeFileSync(
      join(b.folder, FILES.spec),
      JSON.stringify({ version: 1, exec_id: a.exec_id, created_at: 1, starter: STARTER, spec: { ...specOf(), stdin: 'closed' } }),
    );
    expect(look(b.folder)).toMatchObject({ type: 'unreadable' });
  });

  it('is a run until it has the name of a job, even when its runner died while it was making one of it', () => {
    const layout = tempLayout();
    const [whole, torn] = [makeRun(layout), makeRun(layout)];
    const sight = look(whole.folder);
    if (sight.type !== 'open') throw new Error(sight.type);
    fillJob(whole.folder, newId<'job'>('job'), sight.spec, 1);
    writeFileSync(join(torn.folder, FILES.job), '{"version":1,');
    for (const { folder } of [whole, torn]) {
      expect(look(folder)).toMatchObject({ type: 'open', state: 'starting' });
      expect(endFolder(folder, 'running', exitedWith(0), 1, { durable: false })).toBe(true);
      expect(look(folder)).toMatchObject({ type: 'ended' });
    }
  });

  it('never takes a PID from a record that would mean a group, everything or init', () => {
    for (const pid of [0, 1, -1, 1.5, '7']) {
      const { folder } = makeRun(tempLayout());
      writeFileSync(
        join(folder, FILES.owner),
        JSON.stringify({ version: 1, at: 1, holder: { type: 'runner', process: { ...STARTER, pid } } }),
      );
      expect(look(folder)).toMatchObject({ type: 'unreadable' });
    }
  });

  it('is found by an id only', () => {
    const layout = tempLayout();
    for (const id of [
      '',
      '..',
      '../jobs',
      'exec_',
      `exec_${'a'.repeat(21)}/`,
      'job_../../../../../etc/x',
      'ended',
      `job_${'0'.repeat(22)}\0`,
    ]) {
      expect(folderOf(layout, 'run', id)).toBeUndefined();
      expect(folderOf(layout, 'job', id)).toBeUndefined();
    }
  });

  it('is refused when all places are taken; ended and unreadable ones take none', () => {
    const layout = tempLayout();
    const make = (): string =>
      createFolder(layout.runs, { exec_id: newId<'exec'>('exec'), spec: specOf(), starter: STARTER, now: 1 }, (parent) =>
        admit('run', parent),
      );
    const folders = Array.from({ length: BOUNDS.run.most }, make);
    expect(make).toThrow(expect.objectContaining({ code: 'busy' }));
    expect(readdirSync(layout.runs)).toHaveLength(BOUNDS.run.most + 1);
    const [first, second] = folders as [string, string];
    endFolder(first, 'running', exitedWith(0), 1, { durable: false });
    writeFileSync(join(second, FILES.spec), 'x');
    make();
    make();
    expect(make).toThrow(expect.objectContaining({ code: 'busy' }));
  });
});
