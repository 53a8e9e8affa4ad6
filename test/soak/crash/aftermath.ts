import { existsSync, readdirSync, readFileSync, utimesSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type Place, runWrit } from '../../helpers/writ-process.ts';
import type { Findings } from '../kit/findings.ts';
import { createConnection } from './connections.ts';
import { aliveIn } from './processes.ts';
import type { Storm } from './storm.ts';

/** Far more than anything here takes; only what never comes is waited for so long. */
const PATIENCE_MS = 60_000;
const LOOK_MS = 50;
/** 200 answered runs are kept, and looked at again after 25 more. */
const MOST_KEPT = 225;

/** A row of the audit, as `writ audit list --json` prints it. */
export interface Row {
  readonly type: string;
  readonly at: number;
  readonly action?: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A job as `job_get` shows it to an agent that comes later. */
export type ShownJobs = ReadonlyMap<string, { readonly state: string; readonly exit_code: number | null; readonly reason: string | null }>;

/**
 * What a start of Writ makes of what is left, and what is left after that. Two starts: a run whose client was killed may still be ended
 * by its runner during the first, and is closed in the record by the second.
 */
export async function recoverFrom(
  storm: Storm,
  options: { readonly place: Place; readonly argv: readonly string[]; readonly findings: Findings },
): Promise<{ readonly jobs: ShownJobs; readonly rows: readonly Row[] }> {
  const { place, argv, findings } = options;
  const first = createConnection(place, argv);
  await first.call('job_list', {});
  await until('an execution never ended', findings, () =>
    storm
      .executions()
      .filter(({ outcome }) => outcome === undefined)
      .map(({ exec_id, job_id }) => job_id ?? exec_id),
  );
  const said = [await first.stderr()];
  await first.end();

  const aged = [...halfMade(place.home), ...['gates', 'spares', 'warm'].flatMap((folder) => inside(place.home, folder))];
  for (const path of aged) age(path);
  const second = createConnection(place, argv);
  // A runner that runs something removes what dead runners left of their pipes and groups.
  await second.call('shell', { command: 'true' });
  await until('a run was not closed', findings, () => readdirSync(join(place.home, 'runs')).filter((name) => name !== 'ended'));
  await until('what was made for a moment is left', findings, () => aged.filter((path) => existsSync(path)));
  const jobs = new Map<string, { state: string; exit_code: number | null; reason: string | null }>();
  for (const { job_id } of storm.executions()) {
    if (job_id === undefined) continue;
    const answer = await second.call('job_get', { job_id });
    if (answer.type === 'result') jobs.set(job_id, (answer.structured['job'] ?? answer.structured) as never);
    else findings.add('a job can not be asked for', `${job_id}: ${JSON.stringify(answer)}`);
  }
  said.push(await second.stderr());
  await second.end();
  for (const line of said.join('\n').split('\n')) if (line.includes('recovery failed')) findings.add('recovery failed', line);

  const markers = new Set(storm.executions().flatMap(({ exec_id, identity }) => [exec_id, identity?.marker ?? exec_id]));
  await until('a process is left', findings, () => aliveIn(dirname(place.home), markers));
  for (const text of filesLeft(place.home)) findings.add('a file is left', text);
  const kept = inside(place.home, 'runs/ended').length;
  if (kept > MOST_KEPT) findings.add('more answered runs are kept than the bound', String(kept));
  for (const text of groupsLeft(storm)) findings.add('a control group is left', text);
  const verified = await runWrit(place, ['audit', 'verify', '--json'], { argv });
  if (verified.code !== 0) findings.add('the audit does not verify', verified.stdout + verified.stderr);
  return { jobs, rows: await readAudit(place, argv) };
}

/** Waits until nothing is left of what `left` names. */
async function until(kind: string, findings: Findings, left: () => readonly string[]): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  let now = left();
  while (now.length > 0 && performance.now() < deadline) {
    await pause(LOOK_MS);
    now = left();
  }
  for (const text of now) findings.add(kind, text);
}

async function readAudit(place: Place, argv: readonly string[]): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (let cursor: string | undefined; ; ) {
    const flags = ['--json', '--limit', '1000', ...(cursor === undefined ? [] : ['--cursor', cursor])];
    const { stdout } = await runWrit(place, ['audit', 'list', ...flags], { argv });
    const page = JSON.parse(stdout) as { events: Row[]; next_cursor?: string };
    rows.push(...page.events);
    cursor = page.next_cursor;
    if (cursor === undefined) return rows;
  }
}

/** Names in the home that only a living process may have. */
function filesLeft(home: string): readonly string[] {
  return ['fifos', 'gates', 'spares', 'warm'].flatMap((folder) => inside(home, folder));
}

/** Folders of executions that were being made or taken away. */
function halfMade(home: string): readonly string[] {
  return ['runs', 'runs/ended', 'jobs'].flatMap((folder) => inside(home, folder)).filter((path) => basename(path).startsWith('.'));
}

function inside(home: string, folder: string): readonly string[] {
  const path = join(home, folder);
  return existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [];
}

/** What is made for a moment is left alone for a minute, since somebody may be at it: now that minute is over. */
function age(path: string): void {
  const then = new Date(Date.now() - 120_000);
  utimesSync(path, then, then);
}

/** Groups in the hierarchies of this machine that carry the identity of one of the runners that were seen. */
function groupsLeft(storm: Storm): readonly string[] {
  const runners = new Set(
    storm
      .executions()
      .flatMap(({ identity }) => (identity === undefined ? [] : [`${identity.supervisor.pid}-${identity.supervisor.start}`])),
  );
  const mounts = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .filter((line) => / - cgroup2? /.test(line))
    .map((line) => line.split(' ')[4] ?? '');
  return mounts
    .flatMap((mount) => groupsBelow(mount, 4))
    .filter((path) => {
      const [, owner] = /\/writ-(\d+-\d+)-[0-9a-f]+$/.exec(path) ?? [];
      return owner !== undefined && runners.has(owner);
    });
}

function groupsBelow(folder: string, depth: number): readonly string[] {
  if (depth === 0 || !existsSync(folder)) return [];
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => [`${folder}/${name}`, ...groupsBelow(`${folder}/${name}`, depth - 1)]);
  } catch {
    // Removed while it was read.
    return [];
  }
}
