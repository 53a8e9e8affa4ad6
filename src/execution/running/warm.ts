import { mkdirSync, readdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { errnoOf } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { checkMounts } from '../containment/check-mounts.ts';
import type { SandboxPlan } from '../core-types.ts';
import type { ProcessIdentity } from '../types.ts';
import { judge } from './identity.ts';
import { dismiss, type NotPrepared, type Prepared } from './prepare.ts';
import { sweepMarked } from './sweep.ts';

/** Waiting per plan. */
const PER_KEY = 2;
/** Plans that are kept warm at the same time; the one unused for longest goes. */
const MAX_KEYS = 4;
const IDLE_MS = 60_000;
/**
 * Forking keeps this process busy for a moment, so that the time for it is chosen. With one still waiting the next is prepared a little
 * after the run is over, when a client that asks again at once has been let through, or after a while, when the run takes long. With
 * none waiting somebody is in a hurry: it is done while the command runs that has just been let through.
 */
const AFTER_RUN_MS = 3;
const LONG_RUN_MS = 50;
const HURRY_MS = 1;

export interface WarmPool {
  warm(plan: SandboxPlan): void;
  /**
   * One that waits for exactly this plan and is still alive, else the next that is being prepared for it: it was begun earlier than
   * one that is built now would be. Undefined: there is none.
   */
  take(plan: SandboxPlan): Promise<Prepared | undefined>;
  /** What was taken is used (or ended) and its record isn't needed any more. */
  forget(marker: string): void;
  close(): Promise<void>;
}

export interface WarmParts {
  readonly home: string;
  readonly clock: Clock;
  readonly supervisor: ProcessIdentity;
  readonly logger: Logger;
  readonly prepare: (plan: SandboxPlan, marker: string) => Promise<Prepared | NotPrepared>;
  readonly idle_ms?: number;
}

interface Entry {
  /** The one seen last: equal plans may differ in their working directory, and an old one may be gone. */
  plan: SandboxPlan;
  readonly waiting: Prepared[];
  /** Begun and not taken yet, oldest first. */
  readonly coming: Coming[];
  used_at: number;
  /** When it is filled again, at the latest. */
  refill?: { readonly at: number; readonly timer: NodeJS.Timeout };
}

interface Coming {
  /** Never rejects; undefined when it came to nothing. */
  readonly prepared: Promise<Prepared | undefined>;
}

/**
 * Sandboxes that wait at their gate, so that a command needn't wait for theirs to be built. One serves one command of one plan: whoever
 * plans anew gets another key as soon as anything is mounted or set differently. Each has a record on disk before it is spawned, since a
 * supervisor that dies at once can leave one behind.
 */
export function createWarmPool(parts: WarmParts): WarmPool {
  const { clock } = parts;
  const idle = parts.idle_ms ?? IDLE_MS;
  const records = warmFolder(parts.home);
  const entries = new Map<string, Entry>();
  const ending = new Set<Promise<unknown>>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  /** Records whose sandbox was used: the next one's takes its place, since making a file and removing another costs more (carriers.ts). */
  const used: string[] = [];

  const forget = (marker: string): void => removeRecord(`${records}/${marker}`);

  const forgetUsed = (marker: string): void => {
    if (closed || used.length >= PER_KEY) forget(marker);
    else used.push(marker);
  };

  const record = (marker: string): void => {
    const old = used.pop();
    if (old !== undefined && moveRecord(`${records}/${old}`, `${records}/${marker}`)) return;
    mkdirSync(records, { recursive: true, mode: 0o700 });
    writeFileSync(`${records}/${marker}`, JSON.stringify(parts.supervisor), { flag: 'wx', mode: 0o600 });
  };

  const end = (prepared: Prepared): void => {
    const done = dismiss(prepared, clock).then((teardown) => {
      if (teardown.verified) forget(prepared.sandbox.marker);
      else parts.logger.error('a waiting sandbox could not be seen gone', { survivors: teardown.survivors });
    });
    ending.add(done);
    done
      .finally(() => ending.delete(done))
      .catch((error: unknown) => parts.logger.error('a waiting sandbox could not be ended', { error: String(error) }));
  };

  const prepareOne = async (plan: SandboxPlan): Promise<Prepared | undefined> => {
    const marker = newId('warm', clock.now());
    record(marker);
    const prepared = await parts.prepare(plan, marker);
    if (!('reason' in prepared)) return prepared;
    parts.logger.warn('a sandbox could not be prepared ahead', { reason: prepared.reason });
    if (prepared.teardown.verified) forget(marker);
    return undefined;
  };

  /** Puts it among those that wait, unless it was taken while it was being prepared. */
  const arrive = (entry: Entry, coming: Coming, prepared: Prepared | undefined): void => {
    const at = entry.coming.indexOf(coming);
    if (at < 0) return;
    entry.coming.splice(at, 1);
    if (prepared === undefined) return;
    if (closed || entries.get(entry.plan.key) !== entry) {
      end(prepared);
      return;
    }
    entry.waiting.push(prepared);
    // One that dies while it waits is simply no longer there.
    prepared.sandbox.exit.then(() => {
      const place = entry.waiting.indexOf(prepared);
      if (place < 0) return;
      entry.waiting.splice(place, 1);
      end(prepared);
    });
  };

  const lacks = (entry: Entry): boolean => !closed && entry.waiting.length + entry.coming.length < PER_KEY;

  const fill = (entry: Entry, most = PER_KEY): void => {
    for (let begun = 0; begun < most && lacks(entry); begun++) {
      const prepared = prepareOne(entry.plan).catch((error: unknown) => {
        parts.logger.warn('a sandbox could not be prepared ahead', { error: String(error) });
        return undefined;
      });
      const coming: Coming = { prepared };
      entry.coming.push(coming);
      const arrived = prepared.then((one) => arrive(entry, coming, one));
      ending.add(arrived);
      void arrived.then(() => ending.delete(arrived));
    }
  };

  /** Mounted a while ago: what is inside must still be what the plan saw just now. */
  const fits = ({ sandbox }: Prepared, plan: SandboxPlan): boolean =>
    sandbox.exited() === undefined && judge(sandbox.init) === 'OWNED' && checkMounts(plan, sandbox.init.pid) === undefined;

  const refill = (entry: Entry, ms: number, most = PER_KEY): void => {
    const at = clock.monotonic() + ms;
    if (entry.refill !== undefined && entry.refill.at <= at) return;
    clearTimeout(entry.refill?.timer);
    const timer = setTimeout(() => {
      delete entry.refill;
      if (entries.get(entry.plan.key) !== entry) return;
      // One at a time: a second fork would keep whoever waits for an answer waiting.
      fill(entry, 1);
      if (most > 1 && lacks(entry)) refill(entry, AFTER_RUN_MS, most - 1);
    }, ms);
    entry.refill = { at, timer: timer.unref() };
  };

  const drop = (entry: Entry): void => {
    entries.delete(entry.plan.key);
    clearTimeout(entry.refill?.timer);
    for (const prepared of entry.waiting.splice(0)) end(prepared);
    if (entries.size === 0) for (const marker of used.splice(0)) forget(marker);
  };

  const expire = (): void => {
    for (const entry of entries.values()) if (clock.monotonic() - entry.used_at >= idle) drop(entry);
    schedule();
  };

  const schedule = (): void => {
    clearTimeout(timer);
    const next = Math.min(...[...entries.values()].map((entry) => entry.used_at + idle - clock.monotonic()));
    timer = Number.isFinite(next) ? setTimeout(expire, Math.max(1, next)).unref() : undefined;
  };

  return {
    warm(plan) {
      if (closed) return;
      let entry = entries.get(plan.key);
      const known = entry !== undefined;
      if (entry === undefined) {
        const oldest = [...entries.values()].toSorted((a, b) => a.used_at - b.used_at)[0];
        if (entries.size >= MAX_KEYS && oldest !== undefined) drop(oldest);
        entry = { plan, waiting: [], coming: [], used_at: 0 };
        entries.set(plan.key, entry);
      }
      entry.plan = plan;
      entry.used_at = clock.monotonic();
      if (known) refill(entry, AFTER_RUN_MS);
      else fill(entry);
      schedule();
    },
    async take(plan) {
      const entry = entries.get(plan.key);
      if (entry === undefined) return undefined;
      entry.used_at = clock.monotonic();
      for (let prepared = entry.waiting.shift(); prepared !== undefined; prepared = entry.waiting.shift()) {
        if (fits(prepared, plan)) {
          refill(entry, entry.waiting.length > 0 ? LONG_RUN_MS : HURRY_MS);
          return prepared;
        }
        end(prepared);
      }
      const next = entry.coming.shift();
      // With none on the way this run builds its own, and nothing is to be built beside it.
      refill(entry, next === undefined ? LONG_RUN_MS : HURRY_MS);
      const prepared = await next?.prepared;
      if (prepared === undefined || fits(prepared, plan)) return prepared;
      end(prepared);
      return undefined;
    },
    forget: forgetUsed,
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const entry of entries.values()) drop(entry);
      for (const marker of used.splice(0)) forget(marker);
      // What was still being prepared is ended when it is there.
      while (ending.size > 0) await Promise.allSettled(ending);
    },
  };
}

function warmFolder(home: string): string {
  return `${home}/warm`;
}

/** Ends waiting sandboxes whose supervisor is gone; how many processes that were. Safe in several processes at once. */
export async function sweepWarm(home: string): Promise<number> {
  const folder = warmFolder(home);
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 0;
    throw error;
  }
  const orphaned = names.filter((name) => {
    const supervisor = readSupervisor(`${folder}/${name}`);
    const verdict = supervisor === undefined ? 'UNVERIFIABLE' : judge(supervisor);
    return verdict === 'GONE' || verdict === 'FOREIGN';
  });
  const { found, survivors } = await sweepMarked(new Set(orphaned));
  if (survivors.length === 0) for (const name of orphaned) removeRecord(`${folder}/${name}`);
  return found;
}

function readSupervisor(path: string): ProcessIdentity | undefined {
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    if (typeof value !== 'object' || value === null) return undefined;
    const { boot_id, pid, start }: Partial<Record<string, unknown>> = { ...value };
    return typeof boot_id === 'string' && typeof pid === 'number' && typeof start === 'string' ? { boot_id, pid, start } : undefined;
  } catch {
    // Removed meanwhile, or torn: kept, since nothing says whose it is.
    return undefined;
  }
}

/** False when somebody has removed it. */
function moveRecord(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
    return false;
  }
}

function removeRecord(path: string): void {
  try {
    unlinkSync(path);
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}
