import { spawn } from 'node:child_process';

/** How much of a quiet command's output is kept for the error message. */
const TAIL_BYTES = 16 * 1024;

/**
 * Runs a command to its end. `quiet` keeps only the tail of what it printed instead of showing it.
 * @returns {Promise<{ code: number, tail: string }>} `code` is 127 when the program isn't there and 128 + n after a signal, `timeout` (ms) included.
 */
export function run(argv, { cwd, env = process.env, quiet = false, timeout } = {}) {
  return new Promise((resolve) => {
    const output = quiet ? 'pipe' : 'inherit';
    const child = spawn(argv[0], argv.slice(1), { cwd, env, timeout, killSignal: 'SIGKILL', stdio: ['ignore', output, output] });
    let tail = '';
    const keep = (chunk) => {
      tail = (tail + chunk).slice(-TAIL_BYTES);
    };
    child.stdout?.setEncoding('utf8').on('data', keep);
    child.stderr?.setEncoding('utf8').on('data', keep);
    child.on('error', (error) => resolve({ code: error.code === 'ENOENT' ? 127 : 126, tail: `${tail}${error.message}` }));
    child.on('close', (code, signal) => resolve({ code: code ?? 128 + (SIGNALS[signal] ?? 0), tail }));
  });
}

const SIGNALS = { SIGHUP: 1, SIGINT: 2, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };
