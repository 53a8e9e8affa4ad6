import type { ReadStream, WriteStream } from 'node:tty';
import { type Keyboard, QUIT } from '../../cli/index.ts';

const CTRL_C = '\x03';
const CTRL_D = '\x04';
const BACKSPACE = /[\b\x7f]/;
const LONGEST_LINE = 4_000;

type Take = (typed: string) => void;

/**
 * The terminal of this process, read key by key. What is typed while nobody asks is dropped, so that nothing typed ahead ever
 * answers a question that wasn't shown yet.
 */
export function openKeyboard(input: ReadStream, output: WriteStream): Keyboard {
  if (!(input.isTTY && output.isTTY)) return { isTerminal: false, key: async () => QUIT, line: async () => undefined, close: () => {} };
  let take: Take | undefined;
  let gone = false;
  const restore = (): void => void input.setRawMode(false);
  const listen = (typed: string): void => take?.(typed);
  const end = (): void => {
    gone = true;
    take?.(CTRL_D);
  };
  input.setEncoding('utf8');
  input.setRawMode(true);
  input.on('data', listen).on('end', end).on('error', end);
  process.once('exit', restore);

  const taking = async <T>(begin: (done: (value: T) => void) => Take, signal?: AbortSignal): Promise<T | undefined> => {
    if (signal?.aborted) return undefined;
    let abort: (() => void) | undefined;
    try {
      return await new Promise<T | undefined>((resolve) => {
        take = begin(resolve);
        abort = () => resolve(undefined);
        signal?.addEventListener('abort', abort, { once: true });
        if (gone) take(CTRL_D);
      });
    } finally {
      take = undefined;
      if (abort) signal?.removeEventListener('abort', abort);
    }
  };

  return {
    isTerminal: true,
    key: (signal) =>
      taking<string>(
        (done) => (typed) => {
          if (typed.startsWith(CTRL_C) || typed.startsWith(CTRL_D)) return done(QUIT);
          // One key is one answer: a paste, an arrow or a burst of them is none.
          if (typed.length === 1) done(typed.toLowerCase());
        },
        signal,
      ),
    line: async (prompt, { hidden = false } = {}) => {
      output.write(prompt);
      const echo = (shown: string): void => void (hidden || output.write(shown));
      let text = '';
      const line = await taking<string | null>((done) => (typed) => {
        if (typed.startsWith('\x1b')) return;
        for (const char of typed) {
          if (char === CTRL_C || (char === CTRL_D && text === '')) return done(null);
          if (char === '\r' || char === '\n') return done(text);
          if (BACKSPACE.test(char)) {
            if (text !== '') echo('\b \b');
            text = [...text].slice(0, -1).join('');
          } else if (char >= ' ' && text.length < LONGEST_LINE) {
            text += char;
            echo(char);
          }
        }
      });
      output.write('\n');
      return line ?? undefined;
    },
    close: () => {
      input.off('data', listen).off('end', end).off('error', end);
      restore();
      process.off('exit', restore);
      input.pause();
    },
  };
}
