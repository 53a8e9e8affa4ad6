import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Place } from '../../helpers/writ-process.ts';
import { runProgram } from './run-program.ts';
import { WRIT } from './writ.ts';

/** What the runs in which somebody is asked share: a Workspace with a secret file in it, and how the record is read. */

export interface AskedPlace extends Place {
  /** Of the host. */
  readonly host_home: string;
  /** Fresh, for whatever the host needs. */
  readonly base: string;
}

export function makeAskedPlace(): AskedPlace {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-host-')));
  const folder = (name: string): string => {
    mkdirSync(join(base, name), { mode: 0o700 });
    return join(base, name);
  };
  const [host_home, workspace, home] = [folder('home'), folder('work'), folder('writ')];
  execFileSync('git', ['init', '--quiet', workspace]);
  writeFileSync(join(workspace, '.env'), 'GREETING=hello\n');
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  return {
    base,
    host_home,
    workspace,
    home,
    env: { PATH: path, HOME: host_home, TERM: 'dumb', LANG: 'C.UTF-8', WRIT_HOME: home },
    remove: () => rmSync(base, { recursive: true, force: true, maxRetries: 5 }),
  };
}

export interface Row {
  readonly type: string;
  readonly tool?: string;
  readonly data: { readonly client?: { readonly protocol: string }; readonly code?: string };
}

export async function auditRows({ workspace, env }: AskedPlace): Promise<readonly Row[]> {
  const options = { cwd: workspace, env, deadline_ms: 60_000 };
  const rows: Row[] = [];
  // Receipts are long, and not all of what a program prints is kept.
  for (let cursor: readonly string[] = []; ; ) {
    const { stdout } = await runProgram([WRIT, 'audit', 'list', '--json', '--limit', '50', ...cursor], options);
    const { events, next_cursor } = JSON.parse(stdout) as { events: Row[]; next_cursor?: string };
    rows.push(...events);
    if (next_cursor === undefined) return rows;
    cursor = ['--cursor', next_cursor];
  }
}

/** Prints the run of one host, and sets the exit code. */
export function tell(name: string, rows: readonly Row[], checks: readonly (readonly [what: string, problem: string | undefined])[]): void {
  console.log(name);
  console.log(`protocol: ${[...new Set(rows.flatMap(({ data }) => data.client?.protocol ?? []))].join(', ')}`);
  for (const [what, problem] of checks) console.log(problem === undefined ? `ok      ${what}` : `FAILED  ${what}: ${problem}`);
  if (checks.some(([, problem]) => problem !== undefined)) process.exitCode = 1;
}

/** What is missing in `text`, or nothing. */
export function lacks(text: string, wanted: readonly string[]): string | undefined {
  const missing = wanted.filter((each) => !text.includes(each));
  return missing.length === 0 ? undefined : `lacks ${missing.join(', ')}: ${text.slice(0, 1_000)}`;
}

export function counted(rows: readonly Row[], wanted: Readonly<Record<string, number>>): string | undefined {
  const wrong = Object.entries(wanted).filter(([type, count]) => rows.filter((row) => row.type === type).length !== count);
  return wrong.length === 0 ? undefined : `not so: ${JSON.stringify(wrong)} in ${rows.map(({ type }) => type).join(' ')}`;
}
