import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type Place, WRIT } from '../../helpers/writ-process.ts';
import type { Findings } from '../kit/findings.ts';
import type { MemoryWatch } from '../kit/memory.ts';
import type { Random } from '../kit/random.ts';
import { createAnswers } from './answers.ts';
import { createDue } from './due.ts';
import { mutateFrame } from './mutate.ts';
import { named } from './room.ts';
import { handshake, type Json, seedFrames } from './seeds.ts';

/** `writ mcp` as hosts start it. Its tools are real, so few frames are calls that start a command. */
const SEEDS = seedFrames([
  { name: 'shell', arguments: { command: 'echo hello', description: 'says hello' }, _meta: { progressToken: 1 } },
  { name: 'shell', arguments: { command: 'curl https://example.test' } },
  { name: 'job_list', arguments: { limit: 5 } },
  { name: 'job_get', arguments: { id: 'job_01k0000000000000000000000a' } },
  { name: 'shell_output', arguments: { id: 'exec_01k0000000000000000000000a', cursor: 0 } },
  { name: 'nothing' },
]);
/** After so many frames it is waited for: more calls at once than the bound are only answered busy. */
const STEP = 25;
const HANG_MS = 60_000;

export async function runProcess(
  count: number,
  revision: string | undefined,
  place: Place,
  random: Random,
  findings: Findings,
  name: string,
  memory: (pid: number) => MemoryWatch | undefined,
): Promise<number> {
  const [command = process.execPath, ...base] = WRIT;
  const child = spawn(command, [...base, 'mcp', '--root', place.workspace], { cwd: place.workspace, env: place.env, stdio: 'pipe' });
  const exited = once(child, 'close');
  child.stdin.on('error', () => {});
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-20_000);
  });
  const due = createDue();
  const answers = createAnswers(findings, name);
  child.stdout.on('data', (chunk: Buffer) => answers.read(chunk));
  const watch = memory(child.pid ?? 0);

  const send = async (bytes: Buffer): Promise<void> => {
    due.read(bytes);
    if (!child.stdin.write(bytes)) await Promise.race([once(child.stdin, 'drain'), exited]);
  };
  const synchronize = async (id: string): Promise<boolean> => {
    await send(line({ jsonrpc: '2.0', id, method: 'ping' }));
    const until = Date.now() + HANG_MS;
    while (!answers.has(id)) {
      if (child.exitCode !== null || Date.now() > until) return false;
      await Promise.race([once(child.stdout, 'data', { signal: AbortSignal.timeout(1_000) }).catch(() => {}), exited]);
    }
    return true;
  };

  if (revision !== undefined) await send(line(handshake(revision)));
  for (let frame = 0; frame < count; frame++) {
    await send(mutateFrame(named(random.pick(SEEDS), frame, random), SEEDS, random));
    for (const { id } of answers.asked()) await send(line({ jsonrpc: '2.0', id: id as string, result: { roots: [] } }));
    if (frame % STEP !== 0) continue;
    // A frame that lacks its end swallows the next one; so does the ping.
    await send(Buffer.from('\n'));
    if (!(await synchronize(`sync-${frame}`))) {
      findings.add('the process does not answer', `${name}, frame ${frame}, exit ${child.exitCode}: ${stderr.slice(-400)}`);
      break;
    }
    watch?.sample();
  }
  due.end();
  child.stdin.end();
  const timer = setTimeout(() => {
    findings.add('the process does not end', name);
    child.kill('SIGKILL');
  }, HANG_MS);
  const [code, signal] = await exited;
  clearTimeout(timer);
  if (code !== 0) findings.add('the process failed', `${name}: exit ${code ?? signal}: ${stderr.slice(-400)}`);
  if (/uncaught|unhandled|\n {4}at /i.test(stderr)) findings.add('a fault on stderr', `${name}: ${stderr.slice(-400)}`);
  answers.compare(due);
  return answers.lines;
}

/** Resident memory; Linux only, as the process is. */
export function residentBytes(pid: number): number {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024;
}

function line(value: Json): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
