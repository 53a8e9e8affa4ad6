import { describe, expect, test } from 'vitest';
import { createRedactor } from './redaction/index.ts';
import { createStderrLogger } from './stderr-logger.ts';

function setup(level: 'debug' | 'info' | 'warn' | 'error' = 'debug', output: { writableLength?: number } = {}) {
  const lines: string[] = [];
  const sink = Object.assign(output, { write: (text: string) => lines.push(text) });
  const redactor = createRedactor({ known_values: ['correct-horse-42'] });
  const logger = createStderrLogger({ output: sink, level, redactor, clock: { now: () => 0 } });
  return { lines, logger, sink };
}

describe('the stderr logger', () => {
  test('writes one line per event', () => {
    const { lines, logger } = setup();
    logger.info('started', { pid: 7 });
    expect(lines).toEqual(['1970-01-01T00:00:00.000Z INFO  started {"pid":7}\n']);
  });

  test('leaves out what is below its level', () => {
    const { lines, logger } = setup('warn');
    logger.debug('a');
    logger.info('b');
    logger.warn('c');
    logger.error('d');
    expect(lines.map((line) => line.slice(25, 32))).toEqual(['WARN  c', 'ERROR d']);
  });

  test('redacts message, keys and data', () => {
    const { lines, logger } = setup();
    logger.error('got correct-horse-42', {
      password: 'hunter2',
      note: ['ghp_aaaa0000bbbb1111cccc'],
      cause: new Error('DB_PASSWORD=hunter2'),
    });
    expect(lines[0]).not.toMatch(/hunter2|correct-horse|ghp_/);
  });

  test('never makes two lines of one and drives no terminal', () => {
    const { lines, logger } = setup();
    logger.info('a\nFAKE \u001b[2J\u202e\u2028\r', { x: '\u001b]0;title\u0007' });
    expect(lines[0]?.match(/\n/g)).toHaveLength(1);
    expect(lines[0]?.slice(0, -1)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e\u2028]/);
  });

  test('bounds a line and says what it cut', () => {
    const { lines, logger } = setup();
    logger.info('a b '.repeat(10_000));
    expect(lines[0]?.length).toBe(8193);
    expect(lines[0]).toMatch(/\[\d+ characters cut\]\n$/);
  });

  test('survives every kind of data', () => {
    const { lines, logger } = setup();
    const cycle: Record<string, unknown> = { big: 1n, fn: () => 0, bytes: new Uint8Array(3), date: new Date(Number.NaN) };
    cycle['self'] = cycle;
    logger.warn('odd', cycle);
    logger.warn('trap', {
      get boom(): never {
        throw new Error('no');
      },
    });
    logger.warn('after');
    expect(lines[0]).toContain('"self":"[cycle]"');
    expect(lines.at(-1)).toContain('after (1 earlier lines dropped');
  });

  test('drops lines when nobody reads, and says so', () => {
    const { lines, logger, sink } = setup('info', { writableLength: 2 * 1024 * 1024 });
    logger.info('lost');
    logger.info('lost');
    sink.writableLength = 0;
    logger.info('seen');
    expect(lines).toHaveLength(1);
    expect(lines[0]).toContain('2 earlier lines dropped');
  });
});
