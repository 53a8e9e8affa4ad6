import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INSTRUCTIONS } from '../../../src/main/parts/instructions.ts';
import { startModel } from '../model/scripted-model.ts';
import { checkConversation, checkRecord } from './checks.ts';
import { conversation } from './conversation.ts';
import type { Host } from './host.ts';
import { install } from './install.ts';
import { report } from './report.ts';
import { type Ended, runProgram } from './run-program.ts';
import { readRecord } from './writ-record.ts';

const WRIT = fileURLToPath(new URL('../../../writ', import.meta.url));
const DEADLINE_MS = 240_000;

/** One host from fresh folders through the whole conversation; prints what it found and sets the exit code. */
export async function runHost(host: Host): Promise<void> {
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
  const model = await startModel(() => scriptOf(host));
  try {
    const printed = await printedConfiguration(host, { PATH: path, ...server_env }, workspace);
    const launch = host.prepare({ home, workspace, model_url: model.url, printed, server_env });
    const env = { PATH: path, HOME: home, TERM: 'dumb', LANG: 'C.UTF-8', ...launch.env };
    const options = { cwd: workspace, env, deadline_ms: DEADLINE_MS };
    if (launch.before !== undefined) await runProgram([program, ...launch.before], options);
    const ended = await runProgram([program, ...launch.args], options);
    const record = await readRecord(WRIT, { PATH: path, ...server_env }, workspace);
    const checks = [endedWell(ended), ...checkConversation(model, workspace), ...checkRecord(record, model)];
    console.log(
      report(host, { ended, model, record, checks, instructed: model.wasTold(INSTRUCTIONS.split('\n')[0] ?? '') }).replaceAll(base, '/…'),
    );
    if (checks.some((check) => check.problem !== undefined)) process.exitCode = 1;
  } finally {
    await model.close();
    rmSync(base, { recursive: true, force: true, maxRetries: 5 });
  }
}

function* scriptOf(host: Host): ReturnType<typeof conversation> {
  for (const call of host.first ?? []) yield { ...call, label: 'host' };
  yield* conversation(host.wrap?.bind(host) ?? ((call) => call));
}

/** The text a person is told to paste, as it is printed. */
async function printedConfiguration(host: Host, env: Readonly<Record<string, string>>, cwd: string): Promise<string> {
  const { stdout, stderr } = await runProgram([WRIT, 'connect', host.connect], { cwd, env, deadline_ms: 60_000 });
  const lines = stdout.split('\n').filter((line) => line.startsWith('    '));
  if (lines.length === 0) throw new Error(`writ connect ${host.connect} printed nothing to paste: ${stderr}`);
  return lines.map((line) => line.slice(4)).join('\n');
}

function endedWell({ code, stdout, stderr }: Ended): { what: string; problem: string | undefined } {
  return { what: 'the host ended well', problem: code === 0 ? undefined : `exit ${code}\n${stderr.slice(-1500)}\n${stdout.slice(-1500)}` };
}
