import { spawn } from 'node:child_process';

/** What a real bash makes of a text without running it. */
export interface SeenByBash {
  readonly accepted: boolean;
  /** The text as bash prints it after parsing, where it was accepted. */
  readonly printed: string;
  readonly complaint: string;
}

export interface RealBash {
  parse(text: string): Promise<SeenByBash>;
  close(): void;
}

/** `-n` and `--pretty-print` parse only; the sandbox without network and files is for the day that a bash of some version doesn't. */
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
const PLACES = ['--symlink', 'usr/lib64', '/lib64', '--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--chdir', '/tmp', '--clearenv'];
const LOOP = `
while IFS= read -r -d '' text; do
  bash -nc "$text" </dev/null >/dev/null 2>/tmp/complaint; status=$?
  printf '%s\\0' "$status" "$(</tmp/complaint)"
  if ((status == 0)); then
    printf %s "$text" >/tmp/text
    printf '%s\\0' "$(bash --pretty-print /tmp/text </dev/null 2>/dev/null)"
  else printf '\\0'; fi
done`;

/** One bash that is asked about one text after the other. Texts hold no NUL. */
export function startRealBash(): RealBash {
  const env = ['--setenv', 'LC_ALL', 'C.UTF-8', '--setenv', 'PATH', '/usr/bin:/bin'];
  const child = spawn('bwrap', [...SANDBOX, ...PLACES, ...env, 'bash', '--norc', '-c', LOOP], { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: { resolve: (fields: readonly string[]) => void; reject: (error: Error) => void }[] = [];
  let rest = '';
  let fields: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const parts = (rest + chunk).split('\0');
    rest = parts.pop() ?? '';
    for (const part of parts) {
      fields.push(part);
      if (fields.length < 3) continue;
      waiting.shift()?.resolve(fields);
      fields = [];
    }
  });
  child.on('exit', (code) => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`bash ended (${code})`));
  });
  return {
    async parse(text) {
      const [status = '', complaint = '', printed = ''] = await new Promise<readonly string[]>((resolve, reject) => {
        waiting.push({ resolve, reject });
        child.stdin.write(`${text}\0`);
      });
      return { accepted: status === '0', printed, complaint };
    },
    close: () => child.stdin.end(),
  };
}
