import { randomBytes } from 'node:crypto';
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, errnoOf } from './errors.ts';

const WAIT_MS = 10_000;
const POLL_MS = 20;
/** After the name of the lock. */
const DRAFT = /^(?:\d+-[0-9a-f]{8}|over-[0-9a-z]+(?:-\d*)?)\.tmp(?:\.copy)?$/;

interface Holder {
  readonly boot: string;
  readonly pid: number;
  readonly start: string;
}

/**
 * Runs `work` while no other process of this machine does under the same `path`. The holder is known by boot, PID and start time: the lock of
 * a killed process is taken over, and one that only has its number is not mistaken for it. AppError `busy` after 10 s.
 */
export async function withFileLock<T>(path: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const mine = `${path}.${process.pid}-${randomBytes(4).toString('hex')}.tmp`;
  writeFileSync(mine, JSON.stringify(holderOf(process.pid)), { mode: 0o600, flag: 'wx' });
  try {
    await take(path, mine, signal);
    try {
      sweep(path);
      return await work();
    } finally {
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

async function take(path: string, mine: string, signal: AbortSignal | undefined): Promise<void> {
  const until = performance.now() + WAIT_MS;
  for (;;) {
    if (takeFree(path, mine)) return;
    const held = read(path);
    if (held !== undefined && !isAlive(held)) {
      if (takeOver(path, mine, held)) return;
    } else if (performance.now() > until) {
      throw new AppError('busy', `Another process of Writ has held ${path} for ${WAIT_MS / 1000} s.`, {
        fix: 'Try again; if no other Writ is running, remove that file.',
      });
    }
    if (signal?.aborted) throw new AppError('cancelled', 'The request was cancelled while it waited for another process.');
    await sleep(POLL_MS);
  }
}

/** `link` makes the lock appear with its content in one step, and fails if there is one. */
function takeFree(path: string, mine: string): boolean {
  try {
    linkSync(mine, path);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) === 'EEXIST') return false;
    throw thrown;
  }
}

/**
 * Replaces the lock of a dead holder. Two that find the same one must not both do it, so the right to do it is itself a file named after
 * the dead, and whoever has that looks again before replacing.
 */
function takeOver(path: string, mine: string, held: string): boolean {
  const dead = parse(held);
  const right = `${path}.over-${dead === undefined ? 'unknown' : `${dead.pid}-${dead.start.replace(/\D/g, '')}`}.tmp`;
  if (!takeFree(right, mine)) {
    // Whoever has the right may be dead too.
    const taker = read(right);
    if (taker !== undefined && !isAlive(taker)) rmSync(right, { force: true });
    return false;
  }
  try {
    if (read(path) !== held) return false;
    const copy = `${mine}.copy`;
    linkSync(mine, copy);
    renameSync(copy, path);
    return true;
  } finally {
    rmSync(right, { force: true });
  }
}

/** Takes away what was to become a lock of this path, and whose process was killed first. Under the lock. */
function sweep(path: string): void {
  const [folder, start] = [dirname(path), `${basename(path)}.`];
  for (const name of readdirSync(folder)) {
    if (!name.startsWith(start) || !DRAFT.test(name.slice(start.length))) continue;
    const draft = join(folder, name);
    const held = read(draft);
    // One that is being written is empty, and its name says whose it is.
    const dead = held === undefined || parse(held) === undefined ? !exists(Number.parseInt(name.slice(start.length), 10)) : !isAlive(held);
    if (dead) rmSync(draft, { force: true });
  }
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw thrown;
  }
}

function isAlive(held: string): boolean {
  const holder = parse(held);
  if (holder === undefined) return false;
  const now = holderOf(holder.pid);
  return now.boot === holder.boot && now.start === holder.start && exists(holder.pid);
}

function parse(text: string): Holder | undefined {
  try {
    const { boot, pid, start } = JSON.parse(text);
    return typeof boot === 'string' && Number.isSafeInteger(pid) && pid > 0 && typeof start === 'string' ? { boot, pid, start } : undefined;
  } catch {
    // Never written by `withFileLock`, whose locks appear whole.
    return undefined;
  }
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return errnoOf(thrown) === 'EPERM';
  }
}

/** Where there is no /proc, boot and start time are empty and the PID alone decides. */
function holderOf(pid: number): Holder {
  const stat = readProc(`/proc/${pid}/stat`);
  // The name of a program may hold spaces and brackets: fields are counted from the last bracket, and the start time is field 22.
  return {
    boot: readProc('/proc/sys/kernel/random/boot_id').trim(),
    pid,
    start: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '',
  };
}

function readProc(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // No such process, or a system without /proc.
    return '';
  }
}
