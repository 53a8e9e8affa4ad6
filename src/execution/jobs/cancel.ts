import { join } from 'node:path';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, errnoOf } from '../../kernel/errors.ts';
import { endFolder, isEnded, look } from './folder.ts';
import { POLL_MS, watchFolder } from './folder-watch.ts';
import { createJson, placeFile, readJson } from './json-file.ts';
import type { Processes } from './processes.ts';
import { cancelRecord, FILES } from './records.ts';
import { describeTeardown, resultWithoutReceipt, settle } from './settle.ts';

/** A living runner that has not reacted to a request for so long is taken to be stuck. */
const RUNNER_MS = 5_000;
/** And if nothing can be ended by identity either, the wait ends here. */
const GIVE_UP_MS = 20_000;

/** Leaves the request where the runner looks. The first reason stands; twice is once. */
export function requestCancel(folder: string, reason: string, now: number): void {
  try {
    createJson(folder, FILES.cancel, { at: now, reason }, { durable: false });
  } catch (thrown) {
    const errno = errnoOf(thrown);
    // A job that was removed needs no cancelling.
    if (errno === 'ENOENT') return;
    if (errno !== 'ENOSPC' && errno !== 'EDQUOT') throw thrown;
    requestWithoutReason(folder);
  }
}

/**
 * A full disk must not keep anybody from stopping what fills it: an empty file takes no block. Where not even that can be made,
 * the wait below ends the job by identity.
 */
function requestWithoutReason(folder: string): void {
  try {
    placeFile(join(folder, FILES.cancel), '', { durable: false });
  } catch (thrown) {
    if (!['ENOENT', 'EEXIST', 'ENOSPC', 'EDQUOT'].includes(errnoOf(thrown) ?? '')) throw thrown;
  }
}

/** The reason of a request that was left, if there is one. A damaged request is still a request. */
export function cancelRequested(folder: string): string | undefined {
  const request = readJson(folder, FILES.cancel, cancelRecord);
  if (request.ok) return request.value.reason;
  return request.missing ? undefined : 'asked for; the reason could not be written or read';
}

/** Waits until it is over; if its runner does not see to that, ends it by identity and writes the result itself. */
export async function waitForCancel(folder: string, parts: { readonly clock: Clock; readonly processes: Processes }): Promise<void> {
  const { clock, processes } = parts;
  const since = clock.monotonic();
  const watch = watchFolder(folder);
  try {
    for (;;) {
      if (isEnded(folder)) return;
      const sight = await settle(folder, processes, clock.now());
      if (sight.type !== 'open') return;
      const waited = clock.monotonic() - since;
      if (waited >= RUNNER_MS && sight.state === 'running') await endUnasked(folder, parts);
      else if (waited >= GIVE_UP_MS) {
        throw new AppError(
          'outcome_unknown',
          `Its runner lives but has not reacted for ${GIVE_UP_MS / 1000} s, and nothing of it was started yet.`,
        );
      } else await watch.changed(POLL_MS);
    }
  } finally {
    watch.close();
  }
}

async function endUnasked(folder: string, { clock, processes }: { readonly clock: Clock; readonly processes: Processes }): Promise<void> {
  const teardown = await processes.endRun(folder);
  const sight = look(folder);
  if (sight.type !== 'open') return;
  const asked = cancelRequested(folder) ?? 'asked for';
  const outcome = teardown?.verified
    ? { state: 'cancelled' as const, reason: `${asked} (its runner did not react; ${describeTeardown(teardown)})` }
    : { state: 'lost' as const, reason: `it was to be cancelled (${asked}) and its runner did not react; ${describeTeardown(teardown)}` };
  endFolder(folder, sight.state, resultWithoutReceipt(folder, outcome), clock.now(), { durable: true });
}
