import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { JobRecord, Outcome } from '../../src/execution/index.ts';
import { startClient } from '../execution/client.ts';
import { makePlace, OWNER, type Place } from '../execution/place.ts';
import { aliveIn, writProcesses } from './crash/processes.ts';
import { conclude, createFindings } from './kit/findings.ts';

/**
 * Every step of the handshake between a client and its runner, for a foreground run and for a job, with the runner, its client or both
 * killed exactly there. What is true afterwards: nothing ran that isn't recorded, nothing runs again, nothing is left, and what is
 * said about the command is what happened.
 */

const STEPS = ['asked', 'owned', 'planned', 'gate_open', 'ended', 'recorded'] as const;
const VICTIMS = ['runner', 'client', 'both'] as const;
const ACTS = ['run', 'job'] as const;

/** Far more than anything here takes. */
const PATIENCE_MS = 60_000;
const findings = createFindings();

for (const act of ACTS) {
  for (const victim of VICTIMS) {
    const seen: string[] = [];
    for (const step of STEPS) seen.push(`${step}: ${await crash(act, step, victim)}`);
    console.log(`${act}, ${victim} killed at  ${seen.join('  ')}`);
  }
}
conclude(findings);

async function crash(act: (typeof ACTS)[number], step: (typeof STEPS)[number], victim: (typeof VICTIMS)[number]): Promise<string> {
  const place = makePlace();
  const wrong = (kind: string, detail = ''): void => findings.add(kind, `${act}, ${victim} at ${step}: ${detail}`);
  const client = startClient(place, act, place.spec('echo ran >> effects; echo done'), `${step} ${victim}`);
  let answered = false;
  client.answer.then(
    () => {
      answered = true;
    },
    () => {},
  );
  const fallen = async (): Promise<boolean> => (victim === 'runner' ? answered && !ownerLives(place) : client.child.signalCode !== null);
  if (!(await until(fallen))) wrong('nobody was killed');
  client.kill();

  const found: Outcome['state'][] = [];
  const settled = async (): Promise<boolean> => {
    const execution = place.execution();
    const report = await execution.recover();
    if (report.unreadable.length > 0) wrong('a record that can not be read', JSON.stringify(report.unreadable));
    for (const orphan of report.orphaned_runs) found.push(orphan.result?.outcome.state ?? 'lost');
    await execution.confirm(report.orphaned_runs.map((orphan) => orphan.exec_id));
    const jobs = await execution.jobs.list(OWNER);
    if (act === 'job') found.splice(0, found.length, ...jobs.filter(isOver).map(({ state }) => state as Outcome['state']));
    return found.length > 0 || readdirSync(join(place.home, 'runs', 'ended')).length > 0;
  };
  if (!(await until(settled))) wrong('it was never closed');
  if (found.length > 1) wrong('it ended more than once', found.join());
  if (!(await until(async () => aliveIn(dirname(place.home), new Set()).length === 0)))
    wrong('processes are left', aliveIn(dirname(place.home), new Set()).join());

  const ran = place.lines('effects').length;
  const [state] = found;
  if (ran > 1) wrong('it ran twice');
  if (ran > 0 && (state === 'never_started' || pathsOf(place, 'identity.json').length === 0)) wrong('it ran without a record', state);
  if (ran === 0 && state === 'exited') wrong('the end of what never ran');
  // Whatever closed a job tells nobody; the next start does, and then it is told.
  await place.execution().confirm((await place.execution().endedJobs()).map(({ job_id }) => job_id));
  const again = [...(await place.execution().recover()).orphaned_runs, ...(await place.execution().endedJobs())];
  if (again.length > 0) wrong('it is reported again', JSON.stringify(again));
  if (place.lines('effects').length !== ran) wrong('it was started again');
  await place.remove();
  return `${state ?? 'answered'}${ran === 0 ? '' : ' (ran)'}`;
}

/** The runner that has taken it; before that, or with the door closed, the answer says that it is gone. */
function ownerLives(place: Place): boolean {
  const [file] = pathsOf(place, 'owner.json');
  if (file === undefined) return false;
  const { holder } = JSON.parse(readFileSync(file, 'utf8')) as { holder: { process?: { pid: number } } };
  return writProcesses(place.home).some(({ pid }) => pid === holder.process?.pid);
}

/** A file of the one execution of this place, wherever its folder is. */
function pathsOf(place: Place, file: string): readonly string[] {
  return ['runs', 'runs/ended', 'jobs']
    .map((parent) => join(place.home, parent))
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name, file)))
    .filter((path) => existsSync(path));
}

function isOver(job: JobRecord): boolean {
  return job.ended_at !== undefined;
}

async function until(condition: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!(await condition())) {
    if (performance.now() > deadline) return false;
    await pause(50);
  }
  return true;
}
