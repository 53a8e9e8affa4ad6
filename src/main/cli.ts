import { extname } from 'node:path';
import { runProgram } from '../cli/index.ts';
import { composeApp } from './parts/compose.ts';
import { version } from './parts/version.ts';

// Other entries stand beside this one, as sources and in the bundle.
const entry = (name: string): URL => new URL(`./${name}${extname(import.meta.url)}`, import.meta.url);

await runProgram(process.argv.slice(2), version, (settings) => composeApp(entry, settings), {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  keyboard: async () => (await import('./parts/keyboard.ts')).openKeyboard(process.stdin, process.stdout),
  input: async () => (await import('./parts/standard-input.ts')).readInput(process.stdin),
  interactive: process.stdin.isTTY && process.stdout.isTTY,
  exit: (code) => {
    process.exitCode = code;
  },
});
