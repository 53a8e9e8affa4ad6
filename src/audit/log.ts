import type { Clock } from '../kernel/clock.ts';
import { type AppError, toAppError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import { createPassing } from '../kernel/passing.ts';
import type { Store } from '../store/index.ts';
import type { Appended } from './append.ts';
import type { Retention } from './archive-due.ts';
import { eventBytes, eventBytesAnyway } from './event-bytes.ts';
import { auditDirectory } from './key.ts';
import type { AuditLog, AuditRef, RecordOptions } from './types.ts';
import type { AuditWrites } from './writes.ts';

/** Sealing: after so many rows of this process, or so long after the first unsealed one. */
const SEAL_ROWS = 1_000;
const SEAL_AFTER = 60_000;

/** Archive steps after a round of sealing: enough to keep up with any number of rows, and never long before the next round. */
const ARCHIVE_STEPS = 32;

/** How long outcomes that couldn't be stored wait for the next try, in ms. */
const RETRY_AFTER = 1_000;

const VERIFY = 'Run `writ audit verify`.';

export interface AuditLogParts {
  readonly store: Pick<Store<AuditWrites>, 'write'>;
  readonly home: string;
  /** Who writes this chain: boot id, PID, start time, version. Goes into row 0. */
  readonly writer: Readonly<Record<string, unknown>>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly seal?: { readonly rows: number; readonly after: number };
  /** How long rows stay in the database; for ever when absent. */
  readonly retention?: Retention;
}

/** This process's chain in one Organization. */
interface Chain {
  readonly id: string;
  readonly organization: string;
  /** The last row known to be stored. */
  last: Appended | undefined;
  unsealed: number;
}

interface Unsaved {
  readonly organization: string;
  readonly bytes: string;
  readonly stored?: (() => void) | undefined;
}

export function createAuditLog({ store, home, writer, clock, logger, seal: sealing, retention }: AuditLogParts): AuditLog {
  const { rows: sealRows, after: sealAfter } = sealing ?? { rows: SEAL_ROWS, after: SEAL_AFTER };
  const directory = auditDirectory(home);
  /** One per Organization that this process serves. */
  const chains = new Map<string, Chain>();
  const inFlight = createPassing<Promise<unknown>>();
  /** Outcomes that the store refused. Bounded by the actions whose decision it took before. */
  const unsaved: Unsaved[] = [];
  let sealTimer: NodeJS.Timeout | undefined;
  let retryTimer: NodeJS.Timeout | undefined;
  let sealUnderWay: Promise<void> | undefined;
  let closed = false;

  const chainOf = (organization: string): Chain => {
    const found = chains.get(organization);
    if (found !== undefined) return found;
    const made: Chain = { id: newId('chn', clock.now()), organization, last: undefined, unsealed: 0 };
    chains.set(organization, made);
    return made;
  };

  const append = async (organization: string, bytes: string, options: RecordOptions & { readonly lazy?: boolean }): Promise<AuditRef> => {
    const chain = chainOf(organization);
    const opening = chain.last === undefined ? { opening: { at: clock.now(), writer } } : {};
    const written = store.write(
      'audit.append',
      { chain: chain.id, organization, bytes, ...opening },
      { level: options.level ?? 'normal', essential: options.essential ?? false, lazy: options.lazy ?? false },
    );
    const over = inFlight.add(written);
    try {
      chain.last = await written;
    } finally {
      over();
    }
    chain.unsealed += 1;
    if (chain.unsealed >= sealRows) void sealAll();
    else if (!closed) sealTimer ??= setTimeout(() => void sealAll(), sealAfter).unref();
    return { chain: chain.id, seq: chain.last.seq };
  };

  const save = async (item: Unsaved): Promise<AppError | undefined> => {
    try {
      await append(item.organization, item.bytes, { essential: true, lazy: !closed });
    } catch (thrown) {
      unsaved.push(item);
      const error = toAppError(thrown);
      logger.warn('an audit event could not be stored and is kept for the next try', { code: error.code, waiting: unsaved.length });
      if (!closed) retryTimer ??= setTimeout(() => void retry(), RETRY_AFTER).unref();
      return error;
    }
    item.stored?.();
    return undefined;
  };

  /** Tries everything that is unsaved once more; the first error, if any is left over. */
  const retry = async (): Promise<AppError | undefined> => {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    const results = await Promise.all(unsaved.splice(0).map(save));
    return results.find((error) => error !== undefined);
  };

  const sealAll = (): Promise<void> => {
    clearTimeout(sealTimer);
    sealTimer = undefined;
    sealUnderWay ??= sealEach().finally(() => {
      sealUnderWay = undefined;
    });
    return sealUnderWay;
  };

  const sealEach = async (): Promise<void> => {
    let sealed = 0;
    for (const chain of chains.values()) {
      if (chain.last === undefined || chain.unsealed === 0) continue;
      const rows = chain.unsealed;
      try {
        const remembered = { chain: chain.id, seq: chain.last.seq, hash: chain.last.hash };
        const args = { organization: chain.organization, directory, at: clock.now(), remembered };
        await store.write('audit.seal', args, { level: 'full', essential: true });
        chain.unsealed -= rows;
        await store.write('audit.file', { directory }, { level: 'full', essential: true });
        sealed += 1;
      } catch (thrown) {
        // The rows are stored all the same, only not vouched for yet; the next round tries again and `verify` says how many they are.
        const error = toAppError(thrown);
        logger.error(`the audit record could not be sealed: ${error.message}`, { code: error.code, fix: error.fix });
        if (!closed) sealTimer ??= setTimeout(() => void sealAll(), sealAfter).unref();
      }
    }
    if (sealed > 0) await archiveDue();
  };

  /** What the seals have made ready and is old or too much leaves the database, in steps that let other writes pass. */
  const archiveDue = async (): Promise<void> => {
    if (retention === undefined) return;
    try {
      for (let step = 0; step < (closed ? 1 : ARCHIVE_STEPS); step++) {
        const done = await store.write('audit.archive', { directory, now: clock.now(), retention, promptly: false }, { level: 'full' });
        if (done === null) return;
        if (done.refused.length > 0)
          logger.error('audit rows are not archived because they are not what was recorded', { chains: done.refused, fix: VERIFY });
        if (done.file === undefined) return;
        logger.info('old audit rows were archived', { file: done.file, rows: done.rows });
      }
    } catch (thrown) {
      // They stay in the database, where they were; the next round tries again.
      const error = toAppError(thrown);
      logger.warn(`old audit rows could not be archived: ${error.message}`, { code: error.code, fix: error.fix });
    }
  };

  const flush = async (): Promise<void> => {
    // Whoever called `record` hears of its failure; this waits only for the end of it.
    while (inFlight.size > 0) await Promise.allSettled(inFlight.values());
    const error = await retry();
    if (error !== undefined) throw error;
  };

  return {
    record: async (event, options = {}) => append(event.organization, eventBytes(event), options),
    enqueue(event, stored) {
      void save({ organization: event.organization, bytes: eventBytesAnyway(event), stored });
    },
    flush,
    async close() {
      closed = true;
      clearTimeout(sealTimer);
      clearTimeout(retryTimer);
      try {
        await flush();
      } catch (thrown) {
        const error = toAppError(thrown);
        logger.error('audit events are lost: they could not be stored before this process ends', {
          code: error.code,
          events: unsaved.map(({ bytes }) => bytes.slice(0, 500)).slice(0, 20),
          lost: unsaved.length,
        });
        throw error;
      } finally {
        await sealAll();
        // A round that was under way when the last rows came didn't cover them.
        await sealAll();
      }
    },
  };
}
