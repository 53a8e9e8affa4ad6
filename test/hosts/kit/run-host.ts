import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { INSTRUCTIONS } from '../../../src/main/parts/instructions.ts';
import { startModel } from '../model/scripted-model.ts';
import { checkConversation, checkRecord, checkWay } from './checks.ts';
import { conversation } from './conversation.ts';
import type { Host } from './host.ts';
import { install } from './install.ts';
import { report } from './report.ts';
import { type Ended, runProgram } from './run-program.ts';
import { openWayIn, type Way } from './way-in.ts';
import { WRIT } from './writ.ts';
import { readRecord } from './writ-record.ts';

const DEADLINE_MS = 240_000;

/** One host from fresh folders through the whole conversation; prints what it found and sets the exit code. */
export async function runHost(host: Host, way: Way = 'stdio'): Promise<void> {
  const program = install(host);
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-host-')));
  const folder = (name: string): string => {
    mkdirSync(join(base, name), { mode: 0o700 });
    return join(base, name);
  };
  const home = folder('home');
  const workspace = folder('work');
  execFileSync('git', ['init', '--quiet', workspace]);
  // Node 24 first: two of the hosts are scripts and need a newer Node than the machine may have.
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  const server_env = { WRIT_HOME: folder('writ') };
  const operator = { PATH: path, HOME: home, LANG: 'C.UTF-8', ...server_env };
  const model = await startModel(() => scriptOf(host));
  const way_in = await openWayIn(way, host.connect, { home: server_env.WRIT_HOME, workspace, env: operator });
  try {
    const place = { home, workspace, model_url: model.url, printed: way_in.printed, server_env: way === 'http' ? undefined : server_env };
    const launch = host.prepare(place);
    const env = { PATH: path, HOME: home, TERM: 'dumb', LANG: 'C.UTF-8', ...launch.env };
    const options = { cwd: workspace, env, deadline_ms: DEADLINE_MS };
    if (launch.before !== undefined) await runProgram(way_in.start([program, ...launch.before]), options);
    const ended = await runProgram(way_in.start([program, ...launch.args]), options);
    await way_in.up?.end();
    const record = await readRecord(WRIT, operator, workspace);
    const checks = [
      endedWell(ended),
      ...checkConversation(model, workspace),
      ...checkRecord(record, model),
      ...checkWay(way_in, record, model),
    ];
    console.log(
      report(host, { ended, model, record, checks, instructed: model.wasTold(INSTRUCTIONS.split('\n')[0] ?? '') }).replaceAll(base, '/…'),
    );
    if (checks.some((check) => check.problem !== undefined)) process.exitCode = 1;
  } finally {
    await way_in.up?.end();
    await model.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

function* scriptOf(host: Host): ReturnType<typeof conversation> {
  for (const call of host.first?.(['shell', 'job_output']) ?? []) yield { ...call, label: 'host' };
  yield* conversation(host.wrap?.bind(host) ?? ((call) => call));
}

function endedWell({ code, stdout, stderr }: Ended): { what: string; problem: string | undefined } {
  return { what: 'the host ended well', problem: code === 0 ? undefined : `exit ${code}\n${stderr.slice(-1500)}\n${stdout.slice(-1500)}` };
}
