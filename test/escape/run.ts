import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Running, SandboxPlan } from '../../src/execution/core-types.ts';
import type { RunResult, RunSpec } from '../../src/execution/index.ts';
import { newId } from '../../src/kernel/ids.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import type { Way } from './controls.ts';
import type { Scene } from './scene.ts';

export interface Ended {
  readonly output: string;
  /** Only of a run by Writ. */
  readonly result?: RunResult;
  /** Living processes that belong to the run, found by what they carry and not by asking Writ. */
  readonly survivors: readonly number[];
}

export async function carryOut(way: Way, running: Running, plan: SandboxPlan, spec: RunSpec, scene: Scene): Promise<Ended> {
  if (way !== 'writ') {
    const output = await alone(way, plan, spec, scene);
    return { output, survivors: await settled(() => carrying([scene.tag])) };
  }
  const exec_id = newId('exec');
  const folder = join(scene.outside.base, 'runs', exec_id);
  mkdirSync(folder, { recursive: true });
  const run = await running.start({ exec_id, spec, plan, folder, durable: false, logger: silentLogger });
  const result = await run.done;
  const { head, tail } = result.output.combined;
  const namespace = result.receipt?.pid_namespace;
  // At once, without giving anything time to die: the receipt has said that it is dead.
  const survivors = [...carrying([scene.tag, exec_id]), ...(namespace === undefined ? [] : members(namespace))];
  return { output: head + tail, result, survivors };
}

/** The script without Writ's hand on it: nothing of this is product code. It ends with the first process, or is killed. */
async function alone(way: Exclude<Way, 'writ'>, plan: SandboxPlan, spec: RunSpec, scene: Scene): Promise<string> {
  const bash = ['/bin/bash', '--noprofile', '--norc', '-c', spec.command];
  const bwrap = [plan.bwrap, '--args', '3', '--seccomp', '4', '--', ...bash];
  const [program = '', ...argv] = {
    uncontained: bash,
    bubblewrap: bwrap,
    // `script` gives it a controlling terminal; what goes into the options isn't quoted, as it has no blanks.
    'bubblewrap in a terminal': ['/usr/bin/script', '-qec', `exec ${bwrap.map(quote).join(' ')}`, '/dev/null'],
  }[way];
  // Into a file, since survivors may hold a pipe open for ever.
  const file = join(scene.outside.base, `output-${scene.tag}`);
  const output = openSync(file, 'w');
  try {
    const child = spawn(program, argv, {
      cwd: way === 'uncontained' ? spec.cwd : '/',
      env: { ...plan.env, ESCAPE_TAG: scene.tag, ...(way === 'uncontained' ? { HOME: scene.user_home } : {}) },
      ...(plan.drop ?? {}),
      detached: true,
      stdio: ['ignore', output, output, 'pipe', 'pipe'],
    });
    feed(child.stdio[3], Buffer.from(plan.args.map((option) => `${option}\0`).join('')));
    feed(child.stdio[4], plan.seccomp);
    const timer = setTimeout(() => child.kill('SIGKILL'), spec.timeout_ms);
    await new Promise<void>((done, failed) => child.on('exit', () => done()).on('error', failed));
    clearTimeout(timer);
    for (const stream of child.stdio) stream?.destroy();
    return readFileSync(file, 'utf8');
  } finally {
    closeSync(output);
  }
}

function feed(stream: Readable | Writable | null | undefined, bytes: Uint8Array): void {
  if (!stream || !('end' in stream)) return;
  // bubblewrap that dies early closes its end; what it says about it is in the output.
  stream.on('error', () => {});
  stream.end(bytes);
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function pids(): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** Living processes with one of these words in their environment or command line. Dead ones waiting for their parent have neither. */
export function carrying(words: readonly string[]): readonly number[] {
  return pids().filter((pid) => {
    if (pid === process.pid) return false;
    try {
      const text = readFileSync(`/proc/${pid}/environ`, 'latin1') + readFileSync(`/proc/${pid}/cmdline`, 'latin1');
      return words.some((word) => text.includes(word));
    } catch {
      return false;
    }
  });
}

function members(namespace: string): readonly number[] {
  return pids().filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/ns/pid`) === namespace && !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
    } catch {
      return false;
    }
  });
}

/** Ends what is left of a run without its control, however often it comes back. */
export async function endAll(tag: string): Promise<void> {
  const deadline = performance.now() + 10_000;
  for (let left = carrying([tag]); left.length > 0; left = carrying([tag])) {
    if (performance.now() > deadline) throw new Error(`these processes of an attempt can't be ended: ${left.join(', ')}`);
    for (const pid of left) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // Gone by itself.
      }
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Nobody proves the end of what runs without Writ: it may take a moment until what dies is dead. */
async function settled(look: () => readonly number[]): Promise<readonly number[]> {
  let seen = look();
  for (let round = 0; round < 20 && seen.length > 0; round++) {
    await new Promise((resolve) => setTimeout(resolve, 10));
    seen = look();
  }
  return seen;
}
