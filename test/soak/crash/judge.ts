import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome } from '../../../src/execution/types.ts';
import type { Findings } from '../kit/findings.ts';
import type { Row, ShownJobs } from './aftermath.ts';
import type { Found } from './folders.ts';
import { EFFECTS } from './plan.ts';
import type { Sent, Storm } from './storm.ts';

/** Everything known of one command, from four sides: its caller, its effect, its folder and the audit. */
interface Case {
  readonly sent: Sent;
  /** Epoch ms of each time it ran. */
  readonly ran: readonly number[];
  readonly folders: readonly Found[];
  readonly decided: readonly Row[];
  readonly finished: readonly Row[];
  readonly recovered: readonly Row[];
}

export interface Tally {
  readonly commands: number;
  readonly ran: number;
  readonly answered: number;
  readonly unanswered: number;
  readonly ends: Readonly<Record<string, number>>;
}

/** Holds the four sides against each other: laws 3 and 4 of the design, and nothing lost or doubled. */
export function judgeStorm(
  storm: Storm,
  known: { readonly workspace: string; readonly jobs: ShownJobs; readonly rows: readonly Row[]; readonly findings: Findings },
): Tally {
  const { findings, jobs, rows } = known;
  const cases = casesOf(storm, readEffects(known.workspace), rows);
  for (const each of cases) {
    const wrong = (kind: string, detail = ''): void => findings.add(kind, `${describe(each)} ${detail}`);
    judgeRecord(each, wrong);
    judgeEnd(each, wrong);
    judgeAnswer(each, wrong);
    judgeAudit(each, wrong);
    for (const folder of each.folders) judgeJob(folder, jobs, rows, wrong);
  }
  for (const [job_id, times] of announcements(storm)) if (times > 1) findings.add('a job was announced twice', job_id);

  const ends: Record<string, number> = {};
  for (const { outcome } of storm.executions()) ends[outcome?.state ?? 'open'] = (ends[outcome?.state ?? 'open'] ?? 0) + 1;
  const unanswered = cases.filter(({ sent }) => sent.answer.type === 'none').length;
  const ran = cases.filter((each) => each.ran.length > 0).length;
  return { commands: cases.length, ran, answered: cases.length - unanswered, unanswered, ends };
}

type Wrong = (kind: string, detail?: string) => void;

/** Law 3: recorded before it starts. Law 4: never twice. */
function judgeRecord({ ran, folders, decided }: Case, wrong: Wrong): void {
  if (ran.length > 1) wrong('a command ran twice');
  if (folders.length > 1) wrong('a command was taken up twice');
  if (decided.length > 1) wrong('a command was decided twice');
  const [row, folder] = [decided[0], folders[0]];
  if (folder !== undefined && row === undefined) wrong('an execution without a decision');
  const [at] = ran;
  if (at === undefined) return;
  if (row === undefined) wrong('user code without a decision');
  if (folder?.identity === undefined) wrong('user code without a record of its identity');
  if (row === undefined || folder?.identity === undefined) return;
  const order = [row.at, folder.created_at, folder.identity.at, at];
  if (order.some((time, index) => index > 0 && time < (order[index - 1] ?? 0))) wrong('recorded after it ran', order.join(' '));
}

/** The end in the folder is what really happened. */
function judgeEnd({ sent, ran, folders }: Case, wrong: Wrong): void {
  const outcome = folders[0]?.outcome;
  if (outcome === undefined) return;
  if (outcome.state === 'exited' && ran.length === 0) wrong('an exit of what never ran');
  if (outcome.state === 'exited' && outcome.exit_code !== sent.exit_code) wrong('another exit code', JSON.stringify(outcome));
  if (outcome.state === 'never_started' && ran.length > 0) wrong('it ran and is called never started', JSON.stringify(outcome));
  if ('reason' in outcome && outcome.reason === '') wrong('an end without a reason');
  if (outcome.state === 'timed_out') wrong('a deadline that was not there');
}

/** What the caller was told is what is in the folder. */
function judgeAnswer({ sent, ran, folders }: Case, wrong: Wrong): void {
  const { answer } = sent;
  const outcome = folders[0]?.outcome;
  switch (answer.type) {
    case 'none':
      return;
    case 'result': {
      const { status, exit_code, stdout, job_id } = answer.structured;
      if (status === 'running') {
        if (folders[0]?.job_id !== job_id) wrong('a job that was promised is not there', String(job_id));
        return;
      }
      const agrees = status === 'exited' && outcome?.state === 'exited' && exit_code === sent.exit_code;
      if (!agrees) wrong('the answer is not what is recorded', `${String(status)} ${String(exit_code)}, ${JSON.stringify(outcome)}`);
      if (!String(stdout).startsWith(`${sent.token}\n`)) wrong('output that is not its own', String(stdout).slice(0, 80));
      return;
    }
    case 'refused': {
      const mayHaveRun = MAY_HAVE_RUN[answer.code];
      if (mayHaveRun === undefined) wrong('a refusal that nothing explains', answer.text);
      else if (!mayHaveRun && ran.length > 0) wrong('it ran and was called refused', answer.text);
      const expected = OUTCOME_OF[answer.code];
      if (expected !== undefined && outcome !== undefined && !expected.includes(outcome.state))
        wrong('the refusal is not what is recorded', `${answer.text} ${JSON.stringify(outcome)}`);
    }
  }
}

/** Refusals that kills may bring about. */
const MAY_HAVE_RUN: Readonly<Record<string, boolean>> = {
  never_started: false,
  outcome_unknown: true,
  cancelled: true,
  busy: false,
};
const OUTCOME_OF: Readonly<Record<string, readonly Outcome['state'][]>> = {
  never_started: ['never_started'],
  outcome_unknown: ['lost'],
  cancelled: ['cancelled', 'never_started'],
};

/** Each foreground run has one end in the audit: its outcome, or what recovery found. A job is decided there; its end is its folder. */
function judgeAudit({ sent, folders, decided, finished, recovered }: Case, wrong: Wrong): void {
  if (finished.length > 1) wrong('two outcomes in the audit');
  if (recovered.length > 1) wrong('recovered twice in the audit', JSON.stringify(recovered));
  if (sent.answer.type !== 'none' && decided.length === 1 && finished.length + recovered.length === 0)
    wrong('answered, and no outcome in the audit', JSON.stringify(sent.answer).slice(0, 200));
  const [folder] = folders;
  if (folder === undefined || folder.job_id !== undefined) return;
  if (finished.length + recovered.length === 0) wrong('a run without an outcome in the audit', JSON.stringify(folder.outcome));
  const told = finished[0]?.data['state'] ?? (finished[0]?.data['data'] as { state?: string } | undefined)?.state;
  if (told !== undefined && told !== folder.outcome?.state)
    wrong('the audit says another end', `${String(told)} ${JSON.stringify(folder.outcome)}`);
  const found = recovered[0]?.data['outcome'] as Outcome | undefined;
  if (found !== undefined && found.state !== folder.outcome?.state)
    wrong('recovery recorded another end', `${found.state} ${JSON.stringify(folder.outcome)}`);
}

/** A later agent sees the job as its folder has it; its end is in the audit once. */
function judgeJob(folder: Found, jobs: ShownJobs, rows: readonly Row[], wrong: Wrong): void {
  if (folder.job_id === undefined) return;
  const shown = jobs.get(folder.job_id);
  const exit_code = folder.outcome?.state === 'exited' ? folder.outcome.exit_code : null;
  if (shown?.state !== folder.outcome?.state || (exit_code !== null && shown?.exit_code !== exit_code))
    wrong('a job is shown as something else', `${JSON.stringify(shown)} ${JSON.stringify(folder.outcome)}`);
  const ends = rows.filter(({ type, data }) => type === 'job.ended' && data['job_id'] === folder.job_id);
  const recorded = ends.map(({ data }) => (data['outcome'] as Outcome).state);
  if (recorded.length !== 1 || recorded[0] !== folder.outcome?.state)
    wrong(`the end of a job is recorded ${ends.length} times`, JSON.stringify(folder.outcome));
}

function casesOf(storm: Storm, effects: ReadonlyMap<string, readonly number[]>, rows: readonly Row[]): readonly Case[] {
  const folders = Map.groupBy(storm.executions(), ({ token }) => token);
  const decisions = Map.groupBy(
    rows.filter(({ type }) => type === 'action.decided'),
    tokenOf,
  );
  const finishes = Map.groupBy(
    rows.filter(({ type }) => type === 'action.finished'),
    ({ action }) => action,
  );
  const recoveries = Map.groupBy(
    rows.filter(({ type }) => type === 'run.recovered'),
    ({ data }) => data['exec_id'],
  );
  return storm.sent.map((sent) => {
    const own = folders.get(sent.token) ?? [];
    const decided = decisions.get(sent.token) ?? [];
    return {
      sent,
      ran: effects.get(sent.token) ?? [],
      folders: own,
      decided,
      finished: decided.flatMap(({ action }) => finishes.get(action) ?? []),
      recovered: own.flatMap(({ exec_id }) => recoveries.get(exec_id) ?? []),
    };
  });
}

function tokenOf({ data }: Row): string | undefined {
  const { command } = data['arguments'] as { command?: string };
  return /^echo "(\S+) /.exec(command ?? '')?.[1];
}

function readEffects(workspace: string): ReadonlyMap<string, readonly number[]> {
  const path = join(workspace, EFFECTS);
  const lines = existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
  const marks = lines.map((line) => line.split(' ')).map(([token = '', seconds]) => ({ token, at: Number(seconds) * 1000 }));
  return new Map([...Map.groupBy(marks, ({ token }) => token)].map(([token, of]) => [token, of.map(({ at }) => at)]));
}

/** How often each job's end was told along with some answer. */
function announcements(storm: Storm): ReadonlyMap<string, number> {
  const told = new Map<string, number>();
  for (const { answer } of storm.sent) {
    const text =
      answer.type === 'result' ? JSON.stringify(answer.structured['notices'] ?? []) : answer.type === 'refused' ? answer.text : '';
    for (const [, job_id = ''] of text.matchAll(/Job ended: (job_\w+)/g)) told.set(job_id, (told.get(job_id) ?? 0) + 1);
  }
  return told;
}

function describe({ sent, folders, decided }: Case): string {
  const died = sent.kill === undefined ? 'no kill' : `kill ${sent.kill.victim} after ${sent.kill.after_ms} ms`;
  return `${sent.token} (${sent.kind}, ${died}) ${folders.map(({ exec_id, job_id }) => job_id ?? exec_id).join()} ${decided.map(({ action }) => action).join()}`;
}
