import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { RunSpec } from '../../src/execution/index.ts';
import { PREPARED } from '../helpers/prepared.ts';
import type { Place } from './place.ts';

const CLIENT = fileURLToPath(new URL('../fixtures/execution-client.ts', import.meta.url));

export interface Client {
  readonly child: ChildProcess;
  readonly answer: Promise<unknown>;
  /** Ends it like a crash would. */
  kill(): void;
}

/** Another Writ process on the same home; it lives until it is killed. */
export function startClient(place: Place, act: 'job' | 'run' | 'recover' | 'ended' | 'take', spec: RunSpec, dieAt?: string): Client {
  const orders = JSON.stringify({ config: place.config(dieAt), spec, act });
  const child = spawn(process.execPath, [CLIENT, orders], {
    env: { ...process.env, ...PREPARED.env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answer = new Promise<unknown>((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      if (text.endsWith('\n')) resolve(JSON.parse(text));
    });
    child.on('exit', (code, signal) => reject(new Error(`the client ended with ${signal ?? code} before it answered`)));
  });
  answer.catch(() => {});
  return { child, answer, kill: () => void child.kill('SIGKILL') };
}

/** Asks several such processes at the same time. */
export async function askAtOnce(place: Place, act: 'recover' | 'ended' | 'take', count: number): Promise<readonly unknown[]> {
  const clients = Array.from({ length: count }, () => startClient(place, act, place.spec('')));
  try {
    return await Promise.all(clients.map((client) => client.answer));
  } finally {
    for (const client of clients) client.kill();
  }
}
