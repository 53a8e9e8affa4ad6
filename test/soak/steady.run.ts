import { readdirSync, readFileSync } from 'node:fs';
import { makePlace } from '../helpers/writ-process.ts';
import { createConnection } from './crash/connections.ts';
import { writProcesses } from './crash/processes.ts';
import { conclude, createFindings } from './kit/findings.ts';
import { readOptions } from './kit/options.ts';

/**
 * Quick commands, one after another, on one `writ mcp`: neither it nor its runner may grow. Resident memory is what the machine gives
 * away, so it is taken as it is, without asking the process to tidy up first.
 */

const { count, argv } = readOptions(5_000);
const SAMPLES = 80;
/** Growth between the second quarter and the last: a tenth, and what a heap may take before it next looks for garbage. */
const SLACK_MIB = 8;
/** Sandboxes that wait and the pipes of one command come and go with a sample. */
const FD_SLACK = 16;
/** The command under way when it was looked. */
const ZOMBIES = 4;

const findings = createFindings();
const place = makePlace();
// As a host starts it: no option makes the engine collect sooner than it would for anybody.
const connection = createConnection(place, argv);
const watched = new Map(['mcp', 'runner'].map((role) => [role, { rss: [] as number[], fds: [] as number[], pid: 0 }]));

const sample = (): void => {
  for (const { pid, role } of writProcesses(place.home).toSorted((a, b) => a.role.localeCompare(b.role))) {
    const of = watched.get(role);
    // A child between its fork and its exec looks like its parent.
    const parent = role === 'mcp' ? process.pid : watched.get('mcp')?.pid;
    if (of === undefined || standingOf(pid)?.parent !== parent) continue;
    if (of.pid !== 0 && of.pid !== pid) findings.add('another process took over', `${role}: ${of.pid}, later ${pid}`);
    of.pid = pid;
    of.rss.push(residentMib(pid));
    of.fds.push(readdirSync(`/proc/${pid}/fd`).length);
  }
};

const since = performance.now();
for (let done = 0; done < count; done++) {
  const answer = await connection.call('shell', { command: `echo ${done}` });
  if (answer.type !== 'result' || answer.structured['stdout'] !== `${done}\n`) findings.add('a wrong answer', JSON.stringify(answer));
  if (done % Math.max(1, Math.floor(count / SAMPLES)) === 0) sample();
}
console.log(`${count} commands in ${Math.round((performance.now() - since) / 1000)} s`);
for (const [role, { rss, fds, pid }] of watched) {
  const zombies = zombiesOf(pid);
  const quarter = Math.floor(rss.length / 4);
  const [before, after] = [median(rss.slice(quarter, 2 * quarter)), median(rss.slice(3 * quarter))];
  const [least, most] = [Math.min(...fds.slice(quarter)), Math.max(...fds.slice(quarter))];
  console.log(
    `${role}: ${before} MiB resident in the second quarter, ${after} in the last; ${least} to ${most} descriptors; ${zombies} zombies`,
  );
  if (after > before * 1.1 + SLACK_MIB) findings.add('memory grows', `${role}: ${before} MiB, later ${after}`);
  const [early, late] = [median(fds.slice(quarter, 2 * quarter)), median(fds.slice(3 * quarter))];
  if (late > early + FD_SLACK) findings.add('descriptors grow', `${role}: ${early}, later ${late}`);
  if (zombies > ZOMBIES) findings.add('dead children are not collected', `${role}: ${zombies}`);
}
await connection.end();
conclude(findings);
place.remove();

function residentMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 1024);
}

interface Standing {
  readonly state: string;
  readonly parent: number;
}

function standingOf(pid: number | string): Standing | undefined {
  try {
    const [, state = '', parent] = /^\d+ \(.*\) (\S) (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return undefined;
  }
}

function zombiesOf(parent: number): number {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(standingOf)
    .filter((each) => each?.parent === parent && each.state === 'Z').length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
