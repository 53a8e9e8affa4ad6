import { basename } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import { isId } from '../../kernel/ids.ts';
import { clearPlaced } from '../containment/place-holders.ts';
import { endStandIns } from '../containment/stand-ins.ts';
import type { Outcome, OutputView, RunResult, StreamView, TeardownReport } from '../types.ts';
import { endFolder, look, type Sight, spooledBytes } from './folder.ts';
import { createJson, readJson } from './json-file.ts';
import { isDead, type Processes } from './processes.ts';
import { FILES, placedRecord } from './records.ts';

/**
 * What one folder is, closing it when nobody owns it any more: result present = over; owner alive = going on; else what is
 * provably ours is ended and the end written down. Nothing is ever started again. Safe in several processes at once: taking a
 * folder and closing its door are the same exclusive file, and so is its end.
 */
export async function settle(
  folder: string,
  processes: Processes,
  now: number,
  /** The caller is its starter and says why no runner will come for it. */
  options: { readonly given_up?: string } = {},
): Promise<Sight> {
  let sight = look(folder);
  const starterGone = sight.type === 'open' && isDead(processes.judge(sight.spec.starter));
  if (sight.type === 'open' && sight.holder === undefined && (starterGone || options.given_up !== undefined)) {
    // A runner that was sent for it may still come: with the door closed first it can't start what is called never started.
    closeDoor(folder, options.given_up ?? 'the process that was to start it ended before a runner had taken it', now);
    sight = look(folder);
  }
  if (sight.type !== 'open' || sight.holder === undefined) return sight;
  const { holder } = sight;
  if (holder.type === 'runner' && !isDead(processes.judge(holder.process))) return sight;

  const teardown = holder.type === 'runner' ? await processes.endRun(folder) : undefined;
  const placed = readJson(folder, FILES.placed, placedRecord);
  if (placed.ok) {
    endStandIns(placed.value.stand_ins);
    clearPlaced(placed.value.placed);
  }
  const rebooted = holder.type === 'runner' && holder.process.boot_id !== processes.self().boot_id;
  const outcome = outcomeOfAbandoned(folder, sight, rebooted, teardown);
  endFolder(folder, sight.state, resultWithoutReceipt(folder, outcome), now, { durable: isJob(folder) });
  return look(folder);
}

function outcomeOfAbandoned(
  folder: string,
  sight: Sight & { type: 'open' },
  rebooted: boolean,
  teardown: TeardownReport | undefined,
): Outcome {
  if (sight.holder?.type === 'closed') return { state: 'never_started', reason: sight.holder.reason };
  const runner = sight.holder ? `its runner (PID ${sight.holder.process.pid})` : 'its runner';
  // The identity is written before the command is let through the gate. After a restart of the machine its absence proves
  // that only where the write was forced to the disk, as it is for jobs.
  if (sight.state === 'starting' && (!rebooted || isJob(folder))) {
    return { state: 'never_started', reason: `${runner} ended before the command was let through the gate` };
  }
  if (rebooted) return { state: 'lost', reason: 'the machine was restarted before it could end; it may have run' };
  return { state: 'lost', reason: `${runner} ended before it could write the result; ${describeTeardown(teardown)}` };
}

export function describeTeardown(teardown: TeardownReport | undefined): string {
  if (!teardown) return 'whether processes of it are left is not known';
  if (teardown.verified) return 'its processes were seen gone';
  if (teardown.survivors.length > 0) return `still alive: PID ${teardown.survivors.join(', ')}`;
  return 'its processes could not be verified to be gone';
}

/** For an end that no runner has seen: the spool is all that is known of the output. */
export function resultWithoutReceipt(folder: string, outcome: Outcome): RunResult {
  const spooled = spooledBytes(folder);
  const none: StreamView = { head: '', tail: '', omitted_bytes: 0, total_bytes: 0, sha256: null };
  const output: OutputView = {
    stdout: none,
    stderr: none,
    combined: { ...none, omitted_bytes: spooled, total_bytes: spooled },
    spooled_bytes: spooled,
  };
  return { outcome, output };
}

function closeDoor(folder: string, reason: string, now: number): void {
  const holder = { type: 'closed', reason };
  try {
    createJson(folder, FILES.owner, { at: now, holder }, { durable: isJob(folder) });
  } catch (thrown) {
    // Another process has removed or moved the folder in between: the next look says what it is.
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
}

function isJob(folder: string): boolean {
  return isId('job', basename(folder));
}
