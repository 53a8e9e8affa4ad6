import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { startModel } from '../model/scripted-model.ts';
import type { Call, Seen } from '../model/wire.ts';
import { makeProject } from '../sessions/project.ts';
import { JOB, type Session, WORK } from '../sessions/session.ts';
import { auditRows, makeAskedPlace } from './asked.ts';
import { jobIn } from './conversation.ts';
import type { Host } from './host.ts';
import { install } from './install.ts';
import { runProgram } from './run-program.ts';
import { openWayIn } from './way-in.ts';

const DEADLINE_MS = 600_000;

interface Decided {
  readonly type: string;
  readonly tool?: string;
  readonly data: {
    readonly client?: { readonly name: string; readonly version: string; readonly protocol: string };
    readonly arguments?: unknown;
    readonly verdict?: string;
    readonly effects?: readonly string[];
    readonly code?: string;
  };
}

/**
 * One host through its everyday session, over `writ mcp`, with nobody there to be asked. What Writ's own record says was called, and how it
 * was decided, becomes test/corpora/sessions/recorded-HOST.jsonl: the first line says of whom, each other one is a call.
 */
export async function recordSession(host: Host, session: Session): Promise<void> {
  const program = install(host);
  const place = makeAskedPlace();
  makeProject(place.workspace);
  const model = await startModel(() => scriptOf(host, session, place.workspace));
  try {
    const way = await openWayIn('stdio', host.connect, place);
    const launch = host.prepare({
      home: place.host_home,
      workspace: place.workspace,
      model_url: model.url,
      printed: way.printed,
      server_env: { WRIT_HOME: place.home },
    });
    const { WRIT_HOME: _, ...outer } = place.env;
    const options = { cwd: place.workspace, env: { ...outer, ...launch.env }, deadline_ms: DEADLINE_MS };
    if (launch.before !== undefined) await runProgram([program, ...launch.before], options);
    const ended = await runProgram([program, ...launch.args], options);
    if (!model.finished)
      throw new Error(
        `${host.name}: ${model.trouble ?? 'ended early'} after ${model.exchanges.length} calls\n${ended.stderr.slice(-2_000)}`,
      );
    const failed = model.exchanges
      .filter(({ text }) => text.includes('invalid_arguments'))
      .map(({ call, text }) => `${JSON.stringify(call.args)}: ${text.slice(0, 300)}`);
    if (failed.length > 0) throw new Error(`${host.name}: wrong arguments\n${failed.join('\n')}`);

    const rows = ((await auditRows(place)) as readonly Decided[]).toReversed();
    // Hosts list resources of their own accord, which is recorded as the job_list that it is.
    const listed = new Set(session.map(({ tool }) => tool));
    const calls = rows.filter(({ type, tool }) => (type === 'action.decided' || type === 'action.refused') && listed.has(tool ?? ''));
    const lines = [
      { host: host.connect, version: host.version, client: calls[0]?.data.client },
      ...calls.map(({ type, tool, data }) => ({
        tool,
        arguments: data.arguments,
        effects: data.effects,
        verdict: data.verdict,
        ...(type === 'action.refused' ? { code: data.code } : {}),
      })),
    ];
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
    const path = fileURLToPath(new URL(`../../corpora/sessions/recorded-${host.connect}.jsonl`, import.meta.url));
    writeFileSync(path, text.replaceAll(place.workspace, WORK).replaceAll(/job_[0-9a-z]{22}/g, 'job_0000000000000000000000'));
    const asked = calls.filter(({ data }) => data.verdict === 'prompt');
    console.log(
      `${host.name} ${host.version}: ${calls.length} calls recorded, ${asked.length} asked: ${asked.map(({ data }) => JSON.stringify(data.arguments)).join(' ')}`,
    );
  } finally {
    await model.close();
    place.remove();
  }
}

function* scriptOf(host: Host, session: Session, workspace: string): Generator<Call, void, Seen> {
  for (const call of host.first?.([...new Set(session.map(({ tool }) => tool))]) ?? []) yield call;
  let job = 'no job yet';
  for (const { tool, args } of session) {
    const real = JSON.parse(JSON.stringify(args).replaceAll(WORK, workspace).replaceAll(JOB, job)) as Call['args'];
    const call: Call = { tool, of: 'writ', args: real };
    const seen = yield host.wrap?.(call) ?? call;
    if (tool === 'shell' && seen.text.includes('job_')) job = jobIn(seen);
  }
}
