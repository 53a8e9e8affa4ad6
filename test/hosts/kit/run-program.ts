import { spawn } from 'node:child_process';

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly ms: number;
}

/** More than this is a host gone wild; what it says is only shown when it fails. */
const KEPT = 200_000;

/** Runs a program to its end in a process group of its own, which is ended as a whole when the deadline passes. */
export async function runProgram(
  argv: readonly string[],
  options: { readonly cwd: string; readonly env: Readonly<Record<string, string>>; readonly deadline_ms: number },
): Promise<Ended> {
  const [command = '', ...args] = argv;
  const since = Date.now();
  const child = spawn(command, args, { cwd: options.cwd, env: options.env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const timer = setTimeout(() => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, options.deadline_ms);
  const kept = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name].setEncoding('utf8').on('data', (chunk: string) => {
      kept[name] = (kept[name] + chunk).slice(-KEPT);
    });
  }
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', resolve);
    });
    return { code, ...kept, ms: Date.now() - since };
  } finally {
    clearTimeout(timer);
  }
}
