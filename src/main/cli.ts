import { extname } from 'node:path';
import { runProgram } from '../cli/index.ts';
import { composeApp } from './parts/compose.ts';
import { version } from './parts/version.ts';

// Other entries stand beside this one, as sources and in the bundle.
const entry = (name: string): URL => new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);

/** Commands only: a protocol on stdout has its own way of ending. */
function out(text: string): void {
  if (!process.stdout.listeners('error').includes(ended)) process.stdout.on('error', ended);
  process.stdout.write(text);
}
/** Whoever read, as `head` does, has read enough: that ends a command, as SIGPIPE ends other programs, and is no fault. */
function ended(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(128 + 13);
}

/** Whatever a command that failed left open, a port that it listens on for instance: it ends all the same. */
const LEFT_OPEN_MS = 3_000;

await runProgram(process.argv.slice(2), version, (settings) => composeApp(entry, settings), {
  out,
  err: (text) => void process.stderr.write(text),
  keyboard: async () => (await import('./parts/keyboard.ts')).openKeyboard(process.stdin, process.stdout),
  input: async () => (await import('./parts/standard-input.ts')).readInput(process.stdin),
  interactive: process.stdin.isTTY && process.stdout.isTTY,
  exit: (code) => {
    process.exitCode = code;
  },
});
if (process.exitCode) setTimeout(() => process.exit(), LEFT_OPEN_MS).unref();
