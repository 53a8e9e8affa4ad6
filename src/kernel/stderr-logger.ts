import type { Clock } from './clock.ts';
import type { Logger } from './logger.ts';
import type { Redactor } from './redaction/index.ts';
import { visible } from './visible.ts';

const LEVELS = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof LEVELS)[number];

/** Characters of one line without its end; what is cut is counted in the line. */
const MAX_LINE = 8192;
/** Characters waiting in the stream before lines are dropped; the next line that gets through says how many were. */
const MAX_WAITING = 1024 * 1024;

export interface StderrLoggerOptions {
  /** Where lines go: process.stderr, or anything with a Writable's `write`. */
  readonly output: { write(text: string): unknown; readonly writableLength?: number; readonly destroyed?: boolean };
  readonly level: Level;
  readonly redactor: Redactor;
  readonly clock: Pick<Clock, 'now'>;
}

/**
 * One line per event: `TIME LEVEL message {"data":"as JSON"}`. Redacted, control characters escaped (a log line must not drive
 * the terminal it is read on, nor look like two), and bounded. Logging never throws: a log that can't be written is no reason to
 * fail what it is about.
 */
export function createStderrLogger({ output, level, redactor, clock }: StderrLoggerOptions): Logger {
  const least = LEVELS.indexOf(level);
  let dropped = 0;
  const write = (at: Level, message: string, data?: Record<string, unknown>): void => {
    if (LEVELS.indexOf(at) < least || output.destroyed === true) return;
    if ((output.writableLength ?? 0) > MAX_WAITING) {
      dropped++;
      return;
    }
    const note = dropped > 0 ? ` (${dropped} earlier lines dropped: nobody reads)` : '';
    dropped = 0;
    try {
      const body = `${redactor.text(message)}${data === undefined ? '' : ` ${JSON.stringify(redactor.value(plain(data)))}`}${note}`;
      output.write(`${bounded(`${new Date(clock.now()).toISOString()} ${at.toUpperCase().padEnd(5)} ${visible(body)}`)}\n`);
    } catch {
      dropped++;
    }
  };
  return {
    debug: (message, data) => write('debug', message, data),
    info: (message, data) => write('info', message, data),
    warn: (message, data) => write('warn', message, data),
    error: (message, data) => write('error', message, data),
  };
}

/** As JSON would see it, with errors and bigints as words and cycles named, so that nothing in `data` can make logging fail. */
function plain(data: Record<string, unknown>): unknown {
  const above: unknown[] = [];
  const walk = (value: unknown): unknown => {
    if (typeof value === 'bigint') return String(value);
    if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`;
    if (value === null || typeof value !== 'object') return value;
    if (above.includes(value)) return '[cycle]';
    if (above.length > 20) return '[too deep]';
    above.push(value);
    try {
      if (value instanceof Error) return { ...fields(value), error: value.message, ...('code' in value ? { code: value.code } : {}) };
      if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'invalid date' : value.toISOString();
      if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
      if (Array.isArray(value)) return value.map(walk);
      return fields(value);
    } finally {
      above.pop();
    }
  };
  const fields = (value: object): Record<string, unknown> =>
    Object.fromEntries(Object.entries(value).map(([key, item]) => [key, walk(item)]));
  return walk(data);
}

function bounded(line: string): string {
  if (line.length <= MAX_LINE) return line;
  const note = (cut: number): string => ` [${cut} characters cut]`;
  const kept = MAX_LINE - note(line.length).length;
  return line.slice(0, kept).toWellFormed() + note(line.length - kept);
}
