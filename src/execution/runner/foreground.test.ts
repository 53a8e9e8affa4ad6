import { existsSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { ExecId } from '../../kernel/ids.ts';
import { endFolder, fillJob, look } from '../jobs/folder.ts';
import type { Layout } from '../jobs/layout.ts';
import { exitedWith, fakeProcesses, passGate, RUNNER, specOf, takeBy, tempLayout } from '../jobs/testing.ts';
import type { RunResult } from '../types.ts';
import { type RunnerClient, RunnerGone } from './client.ts';
import { createForeground } from './foreground.ts';
import type { RequestName, ToRunner } from './protocol.ts';

const NEVER = new AbortController().signal;

/** A runner of the test's making, with the folders it would have written. */
function fakeRunner(layout: Layout, answers: Partial<Record<RequestName, (folder: string, ask: never) => unknown>> = {}) {
  const told: ToRunner[] = [];
  const ends = new Map<ExecId, (result: RunResult | null) => void>();
  let last = '';
  const client: RunnerClient = {
    async ask(name, ask) {
      if ('id' in ask) last = join(layout.runs, ask.id);
      const given = answers[name];
      if (name === 'start' && !given) {
        takeBy(last);
        passGate(last, (ask as { id: ExecId }).id);
        return null as never;
      }
      return given?.(last, ask as never) as never;
    },
    tell(message) {
      told.push(message);
      return true;
    },
    ended: (exec_id) => new Promise((resolve) => ends.set(exec_id, resolve)),
    forget: (exec_id) => ends.get(exec_id)?.(null),
    usable: () => true,
    disconnect: () => {},
  };
  const end = (result: RunResult | null): void => {
    for (const resolve of ends.values()) resolve(result);
  };
  return { client, told, end, folder: () => last };
}

function foregroundOf(answers: Parameters<typeof fakeRunner>[1] = {}) {
  const layout = tempLayout();
  const runner = fakeRunner(layout, answers);
  const processes = fakeProcesses();
  return {
    layout,
    runner,
    processes,
    foreground: createForeground({ layout, clock: systemClock, processes, runner: () => runner.client }),
  };
}

const gone = (): never => {
  throw new RunnerGone('the runner ended with SIGKILL');
};

describe('a foreground run', () => {
  it('is answered, and stays where recovery looks until somebody confirms it', async () => {
    const { layout, runner, foreground } = foregroundOf();
    const handle = await foreground.start(specOf(), NEVER);
    endFolder(runner.folder(), 'running', exitedWith(4), 1, { durable: false });
    runner.end(exitedWith(4));
    expect(await handle.done).toEqual(exitedWith(4));
    expect(look(join(layout.runs, handle.exec_id))).toMatchObject({ type: 'ended' });
    expect(handle.write(new Uint8Array(1))).toBe(false);
  });

  it('is there with its end when that is told before its start is', async () => {
    const { runner, foreground } = foregroundOf({
      start(folder, { id }: { id: ExecId }) {
        takeBy(folder);
        passGate(folder, id);
        endFolder(folder, 'running', exitedWith(4), 1, { durable: false });
        runner.end(exitedWith(4));
        return Promise.withResolvers<never>().promise;
      },
    });
    const handle = await foreground.start(specOf(), NEVER);
    expect(await handle.done).toEqual(exitedWith(4));
  });

  it('leaves nothing when the runner refuses it, and gives the reason as it came', async () => {
    const error = new AppError('containment_unavailable', 'no', { fix: 'do this' });
    const { layout, foreground } = foregroundOf({
      start: () => {
        throw error;
      },
    });
    await expect(foreground.start(specOf(), NEVER)).rejects.toBe(error);
    expect(readdirSync(layout.runs)).toEqual(['ended']);
    await foreground.close();
  });

  it('keeps its record when nobody knows whether it started', async () => {
    const { layout, foreground } = foregroundOf({
      start: () => {
        throw new AppError('outcome_unknown', 'no answer');
      },
    });
    await expect(foreground.start(specOf(), NEVER)).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(readdirSync(layout.runs)).toHaveLength(2);
  });

  it('never started when the runner was gone before it took it; no runner can take it any more', async () => {
    const { runner, foreground } = foregroundOf({ start: gone });
    const handle = await foreground.start(specOf(), NEVER);
    runner.end(null);
    expect(await handle.done).toMatchObject({ outcome: { state: 'never_started' } });
  });

  it('is lost when the runner went while it ran, and ended and called lost when the runner lives but is out of reach', async () => {
    const dead = foregroundOf();
    dead.processes.dead.add(RUNNER.pid);
    const first = await dead.foreground.start(specOf(), NEVER);
    dead.runner.end(null);
    expect(await first.done).toMatchObject({ outcome: { state: 'lost', reason: expect.stringContaining('seen gone') } });

    const stuck = foregroundOf();
    const second = await stuck.foreground.start(specOf(), NEVER);
    stuck.runner.end(null);
    expect(await second.done).toMatchObject({ outcome: { state: 'lost' } });
    expect(stuck.processes.ended).toEqual([stuck.runner.folder()]);
    expect(look(join(stuck.layout.runs, second.exec_id))).toMatchObject({ type: 'ended' });
  });

  it('becomes a job though the runner died right after it had made it one, and not when it died before', async () => {
    const made = foregroundOf({
      promote: (folder, { job_id }: never) => {
        const sight = look(folder);
        if (sight.type !== 'open') throw new Error(sight.type);
        fillJob(folder, job_id, sight.spec, 1);
        renameSync(folder, join(made.layout.jobs, job_id));
        made.processes.dead.add(RUNNER.pid);
        return gone();
      },
    });
    const handle = await made.foreground.start(specOf(), NEVER);
    const promoted = handle.promote();
    made.runner.end(null);
    expect(await promoted).toMatchObject({ state: 'lost' });
    expect(await handle.done).toBeNull();

    const unmade = foregroundOf({ promote: gone });
    const other = await unmade.foreground.start(specOf(), NEVER);
    unmade.processes.dead.add(RUNNER.pid);
    const refused = other.promote();
    unmade.runner.end(null);
    await expect(refused).rejects.toMatchObject({ code: 'internal' });
    expect(await other.done).toMatchObject({ outcome: { state: 'lost' } });
  });

  it('is cancelled by its caller or by the end of the process until it is a job', async () => {
    const { runner, foreground } = foregroundOf();
    const caller = new AbortController();
    const handle = await foreground.start(specOf(), caller.signal);
    caller.abort();
    expect(runner.told).toEqual([{ type: 'cancel', exec_id: handle.exec_id, reason: expect.any(String) }]);
    await foreground.start(specOf(), NEVER);
    const closed = foreground.close();
    expect(runner.told).toHaveLength(2);
    runner.end(exitedWith(0));
    await closed;
    await expect(foreground.start(specOf(), NEVER)).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('takes no more input than the bound while the channel is full', async () => {
    const { runner, foreground } = foregroundOf();
    const handle = await foreground.start(specOf({ pty: { cols: 80, rows: 24 } }), NEVER);
    expect(handle.write(new Uint8Array(1024 * 1024))).toBe(true);
    expect(handle.write(new Uint8Array(1))).toBe(false);
    expect(runner.told).toHaveLength(1);
    expect(existsSync(runner.folder())).toBe(true);
  });
});
