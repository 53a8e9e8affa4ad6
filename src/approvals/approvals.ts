import { setTimeout as sleep } from 'node:timers/promises';
import type { AuditLog } from '../audit/types.ts';
import type { Clock } from '../kernel/clock.ts';
import { AppError, toAppError } from '../kernel/errors.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import type { Uptime } from '../kernel/uptime.ts';
import { type Reader, type Store, select, statement } from '../store/index.ts';
import { type ApprovalRow, recordOf, rowOf } from './rows.ts';
import { createMoments, isOver } from './times.ts';
import type { Answered, Approvals } from './types.ts';
import type { Webhook } from './webhook.ts';
import type { ApprovalWrites } from './writes.ts';

export interface ApprovalsParts {
  readonly store: Pick<Store<ApprovalWrites>, 'write'>;
  /** To a database that is there and up to date. */
  reader(): Promise<Reader>;
  audit(): Promise<AuditLog>;
  readonly clock: Clock;
  uptime(): Uptime;
  readonly logger: Logger;
  readonly redactor: Pick<Redactor, 'value'>;
  /** Told of every question that this process opens or ends. With a page to go to it is a channel. */
  readonly webhook?: Pick<Webhook, 'notify' | 'close'>;
}

/** How often a waiter looks; other processes answer too, and nothing wakes this one. */
const LOOK_MS = 150;

/** A channel is renewed well before it is forgotten. */
const ATTENDED_MS = 15_000;
const RENEW_MS = 5_000;

/** Notes are the person's words to a model: a few sentences. */
const NOTE_CHARS = 2_000;

const LISTED = 100;
const MOST_LISTED = 1_000;

const channels = statement<{ now: number; latest: number }, { kind: string }>((db, p) =>
  db.selectFrom('approval_channels').select('kind').distinct().where('until', '>', p.now).where('until', '<=', p.latest),
);

export function createApprovals(parts: ApprovalsParts): Approvals {
  const { store, clock, logger } = parts;
  const moment = createMoments(clock, parts.uptime);
  const closing = new AbortController();
  /** Waiters of this process, woken by what it does itself. */
  const woken = new Set<() => void>();

  const record = async (type: string, row: ApprovalRow, data: Record<string, unknown> = {}, action?: string): Promise<void> => {
    const { owner, card, id, digest } = recordOf(row);
    const log = await parts.audit();
    const at = type === 'approval.used' ? clock.now() : (row.decided_at ?? row.created_at);
    const event = {
      type,
      at,
      ...owner,
      tool: card.tool,
      ...(action === undefined ? {} : { action }),
      data: { approval: id, digest, ...(parts.redactor.value(data) as object) },
    };
    // What was decided is decided: a full disk must not make it look otherwise.
    await log.record(event, { level: 'full', essential: type !== 'approval.requested' });
  };

  const recordExpired = async (rows: readonly ApprovalRow[]): Promise<void> => {
    for (const row of rows) {
      await record('approval.expired', row);
      parts.webhook?.notify(recordOf(row));
    }
    if (rows.length > 0) wake();
  };

  const wake = (): void => {
    for (const each of woken) each();
  };

  /** As it is now; one whose time is over is ended by whoever sees it first. */
  const look = async (id: string): Promise<ApprovalRow | undefined> => {
    const session = await parts.reader();
    const row = rowOf(session, id);
    if (row === undefined || !isOpen(row) || !isOver(row, moment())) return row;
    await recordExpired(await store.write('approvals.sweep', { moment: moment() }, { level: 'full', essential: true }));
    return rowOf(session, id);
  };

  return {
    async open({ owner, digest, card, offered, asked_by, action }) {
      const caller = newId('call', clock.now());
      const args = {
        id: newId('apr', clock.now()),
        caller,
        digest,
        owner,
        card,
        offered: JSON.stringify(offered ?? card.opens),
        asked_by: JSON.stringify(asked_by),
        moment: moment(),
      };
      const { row, attached, expired } = await store.write('approvals.open', args, { level: 'full' });
      await recordExpired(expired);
      const opened = recordOf(row);
      if (!attached) {
        const { effects, reasons, opens, origins, word } = opened.card;
        const friction = word === undefined ? {} : { word: true };
        await record('approval.requested', row, { effects, reasons, opens, origins, expires_at: row.expires_at, ...friction }, action);
        parts.webhook?.notify(opened);
      }
      return { record: opened, attached, caller };
    },

    async wait(id, ms, signal) {
      const until = clock.monotonic() + ms;
      const over = AbortSignal.any([signal, closing.signal]);
      for (;;) {
        const row = await look(id);
        if (row === undefined) throw new AppError('not_found', `There is no approval "${id}".`);
        const left = until - clock.monotonic();
        if (row.state !== 'pending' || left <= 0 || over.aborted) return recordOf(row);
        await pause(Math.min(LOOK_MS, left), over, woken);
      }
    },

    async answer(id, reply, by): Promise<Answered> {
      const note = reply.note?.trim().slice(0, NOTE_CHARS);
      const { note: _, ...rest } = reply;
      const args = { id, reply: { ...rest, ...(note ? { note } : {}) }, by, moment: moment() };
      const { expired, ...result } = await store.write('approvals.answer', args, { level: 'full', essential: reply.decision === 'deny' });
      await recordExpired(expired);
      if (!('row' in result)) return result;
      const answered = recordOf(result.row);
      if (!result.ok) return { ok: false, reason: result.reason, record: answered };
      const { state, opens } = answered;
      await record('approval.decided', result.row, { decision: state, by, ...(opens ? { opens } : {}), ...(note ? { note } : {}) });
      wake();
      parts.webhook?.notify(answered);
      return { ok: true, record: answered };
    },

    async use(id, digest) {
      const row = await store.write('approvals.use', { id, digest, moment: moment() }, { level: 'full' });
      if (row === undefined) return false;
      await record('approval.used', row);
      return true;
    },

    taken: (id) => store.write('approvals.taken', { id }, { level: 'normal', essential: true }),
    leave: (id, caller) => store.write('approvals.leave', { id, caller }, { level: 'normal', essential: true }),

    async withdraw(id, caller) {
      const args = { id, moment: moment(), ...(caller === undefined ? {} : { caller }) };
      const row = await store.write('approvals.withdraw', args, { level: 'full', essential: true });
      if (row === undefined) return;
      await record('approval.withdrawn', row);
      wake();
      parts.webhook?.notify(recordOf(row));
    },

    async get(id) {
      const row = await look(id);
      return row === undefined ? undefined : recordOf(row);
    },

    async list({ state, limit = LISTED } = {}) {
      const session = await parts.reader();
      const now = moment();
      const read = (): readonly ApprovalRow[] => {
        let query = session.db.selectFrom('approvals').selectAll().orderBy('created_at', 'desc').orderBy('id', 'desc');
        if (state !== undefined) query = query.where('state', '=', state);
        return select(session, query.limit(Math.min(limit, MOST_LISTED))) as unknown as readonly ApprovalRow[];
      };
      const rows = read();
      if (!rows.some((row) => isOpen(row) && isOver(row, now))) return rows.map(recordOf);
      await recordExpired(await store.write('approvals.sweep', { moment: now }, { level: 'full', essential: true }));
      return read().map(recordOf);
    },

    async liveChannels() {
      const now = clock.now();
      // Further in the future than a renewal reaches: left by a clock that was set back.
      const kinds = channels.all(await parts.reader(), { now, latest: now + ATTENDED_MS }).map(({ kind }) => kind);
      const webhook = parts.webhook !== undefined && kinds.some((kind) => kind === 'server' || kind === 'page') ? ['webhook'] : [];
      return [...kinds.filter((kind) => kind !== 'server'), ...webhook];
    },

    attend(kind) {
      const id = newId('chan', clock.now());
      let closed = false;
      const renew = (): Promise<void> =>
        store
          .write('approvals.attend', { id, kind, until: clock.now() + ATTENDED_MS }, { level: 'normal', essential: true })
          .catch((thrown: unknown) => logger.warn('a channel to a person could not be kept open', { reason: toAppError(thrown).message }));
      const ready = renew();
      let renewed = ready;
      const timer = setInterval(() => {
        renewed = renew();
      }, RENEW_MS).unref();
      const stop = (): void => clearInterval(timer);
      closing.signal.addEventListener('abort', stop, { once: true });
      return {
        ready,
        close: async () => {
          if (closed) return;
          closed = true;
          stop();
          closing.signal.removeEventListener('abort', stop);
          await renewed;
          await store.write('approvals.unattend', { id }, { level: 'normal', essential: true });
        },
      };
    },

    async close() {
      closing.abort();
      await parts.webhook?.close();
    },
  };
}

function isOpen({ state }: ApprovalRow): boolean {
  return state === 'pending' || state === 'approved';
}

/** Until the time is over, this process did something about an approval, or the signal. */
async function pause(ms: number, signal: AbortSignal, woken: Set<() => void>): Promise<void> {
  const stop = new AbortController();
  const wake = (): void => stop.abort();
  woken.add(wake);
  try {
    await sleep(ms, undefined, { signal: AbortSignal.any([signal, stop.signal]) });
  } catch (thrown) {
    if (!stop.signal.aborted && !signal.aborted) throw thrown;
  } finally {
    woken.delete(wake);
  }
}
