import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { SandboxPlan } from '../../core-types.ts';

/** What one short script inside a plan's sandbox did. */
export interface BashResult {
  readonly exit_code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

const MAX_OUTPUT_BYTES = 256 * 1024;

/**
 * Runs a short script of Writ's own under exactly the plan's flags: for the probe (and tests), never for an agent's command,
 * which goes through running/ with its gate, capture and proof of death.
 */
export async function containedBash(plan: SandboxPlan, script: string, signal: AbortSignal): Promise<BashResult> {
  const hasFilter = plan.seccomp.byteLength > 0;
  const argv = ['--args', '3', ...(hasFilter ? ['--seccomp', '4'] : []), '--', '/bin/bash', '--noprofile', '--norc', '-c', script];
  const child = spawn(plan.bwrap, argv, {
    cwd: '/',
    env: { ...plan.env },
    ...(plan.drop ?? {}),
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe', ...(hasFilter ? (['pipe'] as const) : [])],
    signal,
    killSignal: 'SIGKILL',
  });
  const feed = (fd: number, bytes: Uint8Array): void => {
    const stream = child.stdio[fd];
    if (!stream || !('end' in stream)) return;
    // bubblewrap that dies early closes its end; its own message on stderr says more than EPIPE.
    stream.on('error', () => {});
    stream.end(bytes);
  };
  const ended = new Promise<number | null>((done, failed) => {
    child.on('error', failed);
    child.on('close', (code) => done(code));
  });
  feed(3, Buffer.from(plan.args.map((option) => `${option}\0`).join('')));
  if (hasFilter) feed(4, plan.seccomp);
  const [stdout, stderr, exit_code] = await Promise.all([collect(child.stdout), collect(child.stderr), ended]);
  return { exit_code, stdout, stderr };
}

/** The first 256 KiB; what follows is drained and dropped. */
async function collect(stream: Readable | null): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  if (stream) {
    for await (const chunk of stream) {
      const bytes = Buffer.from(chunk);
      if (size < MAX_OUTPUT_BYTES) chunks.push(bytes.subarray(0, MAX_OUTPUT_BYTES - size));
      size += bytes.length;
    }
  }
  return Buffer.concat(chunks).toString('utf8');
}
