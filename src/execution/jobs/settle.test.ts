import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createJson } from './json-file.ts';
import { FILES } from './records.ts';
import { settle } from './settle.ts';
import { fakeProcesses, makeJob, makeRun, passGate, processOf, RUNNER, STARTER, takeBy, tempLayout } from './testing.ts';

const outcomeOf = (sight: Awaited<ReturnType<typeof settle>>): unknown =>
  sight.type === 'ended' ? sight.ended.result.outcome : sight.type;

describe('settling a folder', () => {
  it('leaves alone what somebody living owns, at every step', async () => {
    const processes = fakeProcesses();
    const { folder, exec_id } = makeJob(tempLayout());
    const steps = [() => {}, () => takeBy(folder), () => passGate(folder, exec_id)];
    for (const step of steps) {
      step();
      expect(await settle(folder, processes, 1)).toMatchObject({ type: 'open' });
    }
    expect(processes.ended).toEqual([]);
  });

  it('calls it never started when no runner had taken it, and no runner can take it afterwards', async () => {
    const processes = fakeProcesses();
    processes.dead.add(STARTER.pid);
    const { folder } = makeJob(tempLayout());
    const settled = await settle(folder, processes, 1);
    expect(outcomeOf(settled)).toMatchObject({ state: 'never_started' });
    expect(createJson(folder, FILES.owner, { at: 1, holder: { type: 'runner', process: RUNNER } }, { durable: false })).toBe(false);
  });

  it('finishes what died between closing the door and writing the end', async () => {
    const processes = fakeProcesses();
    processes.dead.add(STARTER.pid);
    const { folder } = makeJob(tempLayout());
    createJson(folder, FILES.owner, { at: 1, holder: { type: 'closed', reason: 'why' } }, { durable: false });
    expect(outcomeOf(await settle(folder, processes, 1))).toEqual({ state: 'never_started', reason: 'why' });
  });

  it('calls it never started when its runner died before the gate', async () => {
    const processes = fakeProcesses();
    processes.dead.add(RUNNER.pid);
    for (const { folder } of [makeJob(tempLayout()), makeRun(tempLayout())]) {
      takeBy(folder);
      expect(outcomeOf(await settle(folder, processes, 1))).toMatchObject({
        state: 'never_started',
        reason: expect.stringContaining('before the command was let through'),
      });
    }
  });

  it('brings out what the run had put in the place of a file, and clears what was made for it', async () => {
    const processes = fakeProcesses();
    processes.dead.add(RUNNER.pid);
    const { folder, exec_id } = makeJob(tempLayout());
    takeBy(folder);
    passGate(folder, exec_id);
    const outside = join(folder, 'outside');
    mkdirSync(join(outside, '.writ-x'), { recursive: true });
    writeFileSync(join(outside, 'notes.txt'), 'old');
    writeFileSync(join(outside, '.writ-x/notes.txt'), 'new');
    const files = [{ name: 'notes.txt', ino: String(statSync(join(outside, 'notes.txt')).ino) }];
    createJson(folder, FILES.placed, { placed: [], stand_ins: [{ folder: outside, name: '.writ-x', files }] }, { durable: false });
    expect(outcomeOf(await settle(folder, processes, 1))).toMatchObject({ state: 'lost' });
    expect([readFileSync(join(outside, 'notes.txt'), 'utf8'), readdirSync(outside)]).toEqual(['new', ['notes.txt']]);
  });

  it('takes a torn identity for none: it is written whole before the token is sent', async () => {
    const processes = fakeProcesses();
    processes.dead.add(RUNNER.pid);
    const { folder } = makeJob(tempLayout());
    takeBy(folder);
    writeFileSync(join(folder, FILES.identity), '{"version":1,"exec');
    expect(outcomeOf(await settle(folder, processes, 1))).toMatchObject({ state: 'never_started' });
  });

  it('calls it lost when its runner died behind the gate, ends what is left, and says what was seen', async () => {
    const processes = fakeProcesses();
    processes.dead.add(RUNNER.pid);
    const make = (): string => {
      const { folder, exec_id } = makeJob(tempLayout());
      takeBy(folder);
      passGate(folder, exec_id);
      return folder;
    };
    const folder = make();
    expect(outcomeOf(await settle(folder, processes, 1))).toMatchObject({
      state: 'lost',
      reason: expect.stringMatching(/PID 1002.*seen gone/),
    });
    expect(processes.ended).toEqual([folder]);
    processes.teardown = { verified: false, method: 'scan', survivors: [77], ms: 5000 };
    expect(outcomeOf(await settle(make(), processes, 1))).toMatchObject({
      state: 'lost',
      reason: expect.stringContaining('still alive: PID 77'),
    });
    processes.teardown = undefined;
    expect(outcomeOf(await settle(make(), processes, 1))).toMatchObject({ state: 'lost', reason: expect.stringContaining('not known') });
  });

  it('tells a restart of the machine apart; what was not forced to the disk proves nothing then', async () => {
    const processes = fakeProcesses();
    const before = processOf(1002, 'boot-0');
    const run = makeRun(tempLayout());
    takeBy(run.folder, before);
    expect(outcomeOf(await settle(run.folder, processes, 1))).toMatchObject({
      state: 'lost',
      reason: expect.stringContaining('restarted'),
    });
    const early = makeJob(tempLayout());
    takeBy(early.folder, before);
    expect(outcomeOf(await settle(early.folder, processes, 1))).toMatchObject({ state: 'never_started' });
    const late = makeJob(tempLayout());
    takeBy(late.folder, before);
    passGate(late.folder, late.exec_id);
    expect(outcomeOf(await settle(late.folder, processes, 1))).toMatchObject({
      state: 'lost',
      reason: expect.stringContaining('restarted'),
    });
  });

  it('leaves an owner alone that nobody can judge, and treats a reused PID as dead', async () => {
    const processes = fakeProcesses();
    const { folder, exec_id } = makeJob(tempLayout());
    takeBy(folder);
    passGate(folder, exec_id);
    processes.verdicts.set(RUNNER.pid, 'UNVERIFIABLE');
    expect(await settle(folder, processes, 1)).toMatchObject({ type: 'open', state: 'running' });
    processes.verdicts.set(RUNNER.pid, 'FOREIGN');
    expect(outcomeOf(await settle(folder, processes, 1))).toMatchObject({ state: 'lost' });
  });

  it('never signals nor writes where the record can not be read', async () => {
    const processes = fakeProcesses();
    for (const pid of [STARTER.pid, RUNNER.pid]) processes.dead.add(pid);
    for (const name of [FILES.spec, FILES.owner, FILES.job]) {
      const { folder, exec_id } = makeJob(tempLayout());
      takeBy(folder);
      passGate(folder, exec_id);
      writeFileSync(join(folder, name), 'not json');
      expect(await settle(folder, processes, 1)).toMatchObject({ type: 'unreadable' });
      expect(existsSync(join(folder, FILES.result))).toBe(false);
    }
    expect(processes.ended).toEqual([]);
  });

  it('is closed by exactly one of many that try at once', async () => {
    const processes = fakeProcesses();
    processes.dead.add(RUNNER.pid);
    const { folder, exec_id } = makeJob(tempLayout());
    takeBy(folder);
    passGate(folder, exec_id);
    const all = await Promise.all(Array.from({ length: 8 }, (_, at) => settle(folder, processes, at)));
    for (const one of all) expect(one).toEqual(all[0]);
    expect(all[0]?.type).toBe('ended');
  });

  it('finds nothing where nothing is', async () => {
    expect(await settle(join(tempLayout().jobs, 'job_x'), fakeProcesses(), 1)).toEqual({ type: 'absent' });
  });
});
