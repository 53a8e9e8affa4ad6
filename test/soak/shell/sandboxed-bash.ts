import { spawn } from 'node:child_process';

/** A bash in a sandbox of its own that is told one text after the other. Texts hold no NUL. */
export interface SandboxedBash {
  /** What it printed for the text, field by field. */
  ask(text: string): Promise<readonly string[]>;
  close(): void;
}

export const HOME = '/home/dev';
export const CWD = '/home/dev/app';
const END = '\x01end';

const SANDBOX = [
  '--unshare-all',
  '--die-with-parent',
  '--ro-bind',
  '/usr',
  '/usr',
  '--symlink',
  'usr/bin',
  '/bin',
  '--symlink',
  'usr/lib',
  '/lib',
];
const PLACES = ['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--dir', CWD, '--chdir', CWD];

/** `each`: what is done with `$text`; it prints fields that end in NUL. No network, no file of the host but /usr, and that read-only. */
export function startSandboxedBash(each: string): SandboxedBash {
  const loop = `while IFS= read -r -d '' text; do ${each}\n printf '${END}\\0'; done`;
  const env = Object.entries({ LC_ALL: 'C.UTF-8', PATH: '/usr/bin:/bin', HOME }).flatMap(([name, value]) => ['--setenv', name, value]);
  const child = spawn('bwrap', [...SANDBOX, ...PLACES, '--clearenv', ...env, 'bash', '--norc', '-c', loop], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const waiting: { resolve: (fields: readonly string[]) => void; reject: (error: Error) => void }[] = [];
  let rest = '';
  let fields: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      if (part !== END) fields.push(part);
      else {
        waiting.shift()?.resolve(fields);
        fields = [];
      }
    }
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`bash ended (${code})`));
  });
  return {
    ask: (text) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${text}\0`);
      }),
    close: () => child.stdin.end(),
  };
}
