import { openSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';

/** One file is kept beside the current one, and one runner writes no more than this: three times as much at the most. */
const MAX_BYTES = 1024 * 1024;

/** Opens the file that the standard error of a new runner goes to. */
export function openRunnerLog(folder: string): number {
  const path = join(folder, 'runner.log');
  try {
    if (statSync(path).size > MAX_BYTES) renameSync(path, `${path}.1`);
  } catch (thrown) {
    // Not there yet, or another client has just rotated it.
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
  return openSync(path, 'a', 0o600);
}

/** A runner's own lines: JSON, one a line, until its share is used up; what comes after is dropped, and the last line says so. */
export function createRunnerLogger(write: (line: string) => void, pid: number, now: () => number): Logger {
  let left = MAX_BYTES;
  const log = (level: keyof Logger) => (message: string, data?: Record<string, unknown>) => {
    if (left <= 0) return;
    const line = `${JSON.stringify({ time: now(), level, pid, message, ...data })}\n`;
    left -= line.length;
    write(
      left > 0
        ? line
        : `${line}${JSON.stringify({ time: now(), level: 'warn', pid, message: 'this runner has used up its share of the log' })}\n`,
    );
  };
  return { debug: () => {}, info: log('info'), warn: log('warn'), error: log('error') };
}
