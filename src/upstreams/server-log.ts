import type { Readable } from 'node:stream';
import type { Clock } from '../kernel/clock.ts';
import { createLineDecoder } from '../kernel/json-rpc/framing.ts';
import { visible } from '../kernel/visible.ts';

const KEPT = 500;
const MAX_LINE = 2_000;
const PER_SECOND = 50;

/** What an upstream writes on its standard error: always read, so that it never blocks, and kept as far as a person looks back. */
export interface ServerLog {
  read(stderr: Readable): void;
  /** Oldest first. */
  lines(): readonly string[];
  /** Told of each line that comes, until the function that it gives is called. */
  follow(told: (line: string) => void): () => void;
}

export interface ServerLogParts {
  readonly name: string;
  readonly clock: Clock;
  /** Redacts. */
  clean(text: string): string;
  /** One line, as `[name] text`. */
  show(line: string): void;
}

export function createServerLog({ name, clock, clean, show }: ServerLogParts): ServerLog {
  const kept: string[] = [];
  const followers = new Set<(line: string) => void>();
  let second = 0;
  let shown = 0;
  let swallowed = 0;

  function keep(line: string): void {
    kept.push(line);
    if (kept.length > KEPT) kept.shift();
    for (const told of followers) told(line);
  }

  function take(text: string): void {
    const line = visible(clean(text).slice(0, MAX_LINE));
    keep(line);
    const now = Math.floor(clock.now() / 1000);
    if (now !== second) {
      if (swallowed > 0) show(`[${name}] ${swallowed} more lines in a second are not shown`);
      second = now;
      shown = 0;
      swallowed = 0;
    }
    if (shown < PER_SECOND) {
      shown++;
      show(`[${name}] ${line}`);
    } else swallowed++;
  }

  return {
    read(stderr) {
      const decoder = createLineDecoder(64 * 1024, (frame) => {
        if (frame.type === 'line') take(frame.text);
        else take(frame.type === 'oversized' ? '(a line of more than 64 KiB)' : '(a line that is not UTF-8)');
      });
      stderr.on('data', (chunk: Uint8Array) => decoder.push(chunk));
      stderr.on('end', () => decoder.end());
      stderr.on('error', () => {});
    },
    lines: () => [...kept],
    follow(told) {
      followers.add(told);
      return () => void followers.delete(told);
    },
  };
}
