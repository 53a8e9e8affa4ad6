import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createDrain } from './drain.ts';

test('a process that was kept off the processor past the grace reads what lies in the pipe before it gives up', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-drain-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const reading = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const writing = openSync(pipe, constants.O_WRONLY);
  try {
    const drain = createDrain();
    let got = '';
    const socket = new Socket({ fd: reading, readable: true, writable: false });
    const ended = new Promise<void>((resolve) => {
      socket.on('close', () => resolve());
    });
    socket.on('data', (chunk) => {
      got += String(chunk);
      drain.touch(chunk.length);
    });
    const finished = drain.finished(ended);
    writeSync(writing, 'hello');
    const until = Date.now() + 2_500;
    while (Date.now() < until);
    await finished;
    expect(got).toBe('hello');
    socket.destroy();
    await ended;
  } finally {
    closeSync(writing);
    rmSync(folder, { recursive: true });
  }
});
