import { spawn } from 'node:child_process';

/** How much of a quiet command's output is kept for the error message. */
const TAIL_BYTES = 16 * 1024;

/**
 * Runs a command to its end. `quiet` keeps only the tail of what it printed instead of showing it.
 * @returns {Promise<{ code: number, tail: string }>} `code` is 127 when the program isn't there and 128 + n after a signal, `timeout` (ms) included.
 * `lasting`: it ends when this process is told to; until it has ended by itself, this process stays.
 */
export function run(argv, { cwd, env = process.env, quiet = false, timeout, lasting = false } = {}) {
  return new Promise((resolve) => {
    const output = quiet ? 'pipe' : 'inherit';
    const child = spawn(argv[0], argv.slice(1), { cwd, env, timeout, killSignal: 'SIGKILL', stdio: ['ignore', output, output] });
    if (lasting) {
      // A Ctrl-C reaches both, since they share the terminal.
      process.on('SIGINT', () => {});
      process.on('SIGTERM', () => child.kill('SIGTERM'));
      // npm that is told to end passes it on to a shell, which passes it on to nobody.
      const parent = process.ppid;
      setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 1_000).unref();
    }
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
