import { createRequire } from 'node:module';
import type { Place } from './writ-process.ts';
import { WRIT } from './writ-process.ts';

interface Pty {
  readonly pid: number;
  write(data: string): void;
  kill(signal?: string): void;
  onData(listener: (data: string) => void): void;
  onExit(listener: (event: { exitCode: number }) => void): void;
}

/** A person in a terminal of their own: `writ ARGS` on a real PTY, typed to and read from. */
export interface Person {
  screen(): string;
  type(text: string): void;
  readonly exited: Promise<number>;
  kill(): void;
}

const pty = createRequire(import.meta.url)('@lydell/node-pty') as {
  spawn(file: string, args: readonly string[], options: Record<string, unknown>): Pty;
};

export function personAt(place: Place, args: readonly string[], wrapper: readonly string[] = [], argv: readonly string[] = WRIT): Person {
  const [file = '', ...rest] = [...wrapper, ...argv, ...args];
  const child = pty.spawn(file, rest, { cwd: place.workspace, env: { ...place.env, TERM: 'xterm' }, cols: 100, rows: 40 });
  let screen = '';
  child.onData((data) => {
    screen += data;
  });
  const exited = new Promise<number>((resolve) => child.onExit(({ exitCode }) => resolve(exitCode)));
  return {
    screen: () => screen.replaceAll('\r\n', '\n'),
    type: (text) => child.write(text),
    exited,
    kill: () => {
      try {
        child.kill('SIGKILL');
      } catch {
        // Gone already.
      }
    },
  };
}

/**
 * A host that is none of the test's own ancestors: in between stands a program that only waits for what it started, so that the test,
 * which is above both the agent and the person, isn't taken for the agent's host.
 */
export const HOST = ['/usr/bin/timeout', '--foreground', '600'] as const;
