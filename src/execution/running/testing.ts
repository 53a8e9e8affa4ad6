import { systemClock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import { silentLogger } from '../../kernel/logger.ts';
import type { ContainedRun, Running, SandboxPlan } from '../core-types.ts';
import type { RunResult, RunSpec } from '../types.ts';
import { type HandMade, makeHandPlan } from './hand-plan.ts';
import { createRunning, type RunningOptions } from './index.ts';

/** For the tests of this folder: real sandboxes on a plan made by hand. */
export interface Bench {
  readonly hand: HandMade;
  readonly running: Running;
  readonly plan: SandboxPlan;
  start(command: string, options?: StartOptions): Promise<ContainedRun & { readonly folder: string }>;
  run(command: string, options?: StartOptions): Promise<RunResult & { readonly folder: string }>;
  close(): Promise<void>;
}

export interface StartOptions {
  readonly spec?: Partial<RunSpec>;
  readonly plan?: SandboxPlan;
  readonly durable?: boolean;
}

export const isRoot = process.getuid?.() === 0;

export function makeBench(uid?: number, options: RunningOptions = {}): Bench {
  const hand = makeHandPlan(uid);
  const running = createRunning(hand.config, systemClock, options);
  const plan = hand.plan();
  const start: Bench['start'] = async (command, { spec = {}, plan: other, durable = false } = {}) => {
    const exec_id = newId('exec');
    const folder = hand.folder(exec_id);
    const chosen = other ?? (spec.pty === undefined ? plan : hand.plan({}, { terminal: true }));
    const run = await running.start({ exec_id, spec: hand.spec(command, spec), plan: chosen, folder, durable, logger: silentLogger });
    return { ...run, folder };
  };
  return {
    hand,
    running,
    plan,
    start,
    async run(command, options) {
      const run = await start(command, options);
      return { ...(await run.done), folder: run.folder };
    },
    async close() {
      await running.close();
      hand.remove();
    },
  };
}

/** Polls; the bound is for a test that would otherwise hang. */
export async function until(condition: () => boolean | Promise<boolean>, ms = 10_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error('the condition did not become true in time');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
