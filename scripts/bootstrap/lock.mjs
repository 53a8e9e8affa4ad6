import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout.mjs';
import { Stop, say } from './say.mjs';

const WAIT_MS = 15 * 60_000;
const POLL_MS = 200;

/**
 * One holder at a time for a part of the checkout (`packages`, `build`). The holder is known by boot, PID and start time, so a
 * lock left behind by a killed process is taken over and a reused PID is not mistaken for its old owner.
 */
export async function withLock(name, work) {
  const path = join(ROOT, `.${name}.lock`);
  const mine = join(ROOT, `.${name}.lock.${process.pid}.tmp`);
  writeFileSync(mine, JSON.stringify(identity(process.pid)));
  try {
    await take(path, mine);
    try {
      sweep(name);
      return await work();
    } finally {
      rmSync(path, { force: true });
    }
  } finally {
    rmSync(mine, { force: true });
  }
}

async function take(path, mine) {
  const until = Date.now() + WAIT_MS;
  let told = false;
  for (;;) {
    if (takeFree(path, mine)) return;
    const held = read(path);
    if (held !== undefined && !alive(held)) {
      takeOver(path, mine, held);
      if (read(path) === readFileSync(mine, 'utf8')) return;
      continue;
    }
    if (!told && held !== undefined) say(`Waiting for process ${JSON.parse(held).pid}, which is preparing this checkout ...`);
    told = true;
    if (Date.now() > until)
      throw new Stop(`${path} was held for 15 minutes. If no other start is running, remove that file and try again.`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** What killed contenders left behind. */
function sweep(name) {
  for (const file of readdirSync(ROOT).filter((entry) => entry.startsWith(`.${name}.lock.`))) {
    const held = read(join(ROOT, file));
    if (held && !alive(held)) rmSync(join(ROOT, file), { force: true });
  }
}

/** link() makes the lock appear with its content in one step and fails if it is there. */
function takeFree(path, mine) {
  try {
    linkSync(mine, path);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Replaces the lock of a dead owner. Two that find the same dead owner must not both replace it, so the right to do it is itself
 * a file named after that owner; whoever has it looks again before replacing.
 */
function takeOver(path, mine, held) {
  const { pid, start } = JSON.parse(held);
  const right = `${path}.${pid}-${start}.tmp`;
  if (!takeFree(right, mine)) return;
  try {
    if (read(path) === held) {
      const copy = `${mine}.over`;
      writeFileSync(copy, readFileSync(mine));
      renameSync(copy, path);
    }
  } finally {
    rmSync(right, { force: true });
  }
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function alive(held) {
  const { boot, pid, start } = JSON.parse(held);
  const now = identity(pid);
  return now.boot === boot && now.start === start && exists(pid);
}

function exists(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Where there is no /proc, boot and start time are empty and the PID alone decides. */
function identity(pid) {
  const boot = (read('/proc/sys/kernel/random/boot_id') ?? '').trim();
  const stat = read(`/proc/${pid}/stat`) ?? '';
  // The command name may hold spaces and brackets: fields are counted from the last bracket; start time is field 22.
  return { boot, pid, start: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '' };
}
