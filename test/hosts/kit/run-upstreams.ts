import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { HOST, personAt } from '../../helpers/person.ts';
import { startModel } from '../model/scripted-model.ts';
import { type AskedPlace, auditRows, counted, lacks, makeAskedPlace, type Row, tell } from './asked.ts';
import type { Host } from './host.ts';
import { install } from './install.ts';
import { type Ended, runProgram } from './run-program.ts';
import {
  CODE,
  FIRST,
  FIX,
  isGreeting,
  listed,
  NOT_OFFERED,
  PROGRAM,
  SECOND,
  searching,
  THIRD,
  TOOL,
  type Wrap,
} from './upstreams-script.ts';
import { openWayIn, type WayIn } from './way-in.ts';
import { WRIT } from './writ.ts';

const DEADLINE_MS = 240_000;

/**
 * A host whose Writ has other MCP servers: `notes`, whose tool needs a person's yes, and `many` with 45 tools. Over stdio `notes` comes from the file of
 * the project, so that the server needs a yes too; `writ up` serves no project, and there it has `require_approval`. The host is started twice: first
 * with both, so that its model searches; then without `many`, so that the tool is listed by its name. A person in a terminal approves when the
 * model has been refused. Twice the tool becomes another one.
 */
export async function runUpstreams(host: Host, way: 'stdio' | 'http'): Promise<void> {
  const program = install(host);
  const place = makeAskedPlace();
  const [notes, many] = [serverOf(place, 'notes'), serverOf(place, 'many')];
  copyFileSync(fileURLToPath(new URL(PROGRAM, import.meta.url)), join(place.workspace, PROGRAM));
  writeFileSync(join(place.workspace, 'version'), '1\n');
  if (way === 'stdio') writeFileSync(join(place.workspace, 'writ.json'), JSON.stringify({ mcp_servers: { notes } }));
  // Over HTTP both starts may be one Run, in which `many` has been read: that would ask for each call.
  const ofOperator = way === 'stdio' ? {} : { notes: { ...notes, require_approval: true, low_impact: true } };
  const configure = (servers: object): void =>
    writeFileSync(join(place.home, 'config.json'), JSON.stringify({ mcp_servers: { ...ofOperator, ...servers } }), { mode: 0o600 });
  configure({ many });

  const wrap: Wrap = host.wrap?.bind(host) ?? ((call) => call);
  const model = await startModel(() => start(searching(wrap), ['shell', 'find_tools', 'describe_tool', 'call_tool']));
  function* start(script: ReturnType<typeof searching>, tools: readonly string[]): ReturnType<typeof searching> {
    for (const call of host.first?.(tools) ?? []) yield call;
    yield* script;
  }
  const texts = (label: string): readonly string[] => model.exchanges.filter(({ call }) => call.label === label).map(({ text }) => text);
  const way_in = await openWayIn(way, host.connect, place, { wrapper: HOST });
  const stop = new AbortController();
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await delay(100, undefined, { signal: stop.signal });
  };
  const screens: string[] = [];
  async function approve(): Promise<void> {
    const person = personAt(place, ['upstream', 'approve', 'notes'], [], [WRIT]);
    try {
      await until(() => person.screen().includes('Type "yes"'));
      person.type('yes\r');
      const code = await person.exited;
      if (code !== 0) throw new Error(`writ upstream approve ended with ${code}: ${person.screen()}`);
      screens.push(person.screen());
    } finally {
      person.kill();
    }
  }
  const some = (label: string, wanted: string): Promise<void> => until(() => texts(label).some((text) => text.includes(wanted)));

  const launch = host.prepare({
    home: place.host_home,
    workspace: place.workspace,
    model_url: model.url,
    printed: way_in.printed,
    server_env: way === 'stdio' ? { WRIT_HOME: place.home } : undefined,
  });
  const { WRIT_HOME: _, ...outer } = place.env;
  const options = { cwd: place.workspace, env: { ...outer, ...launch.env }, deadline_ms: DEADLINE_MS };
  const runHost = async (answers: Promise<void>): Promise<{ ended: Ended; trouble: string | undefined }> => {
    const answered = answers.then(
      () => undefined,
      (thrown: unknown) => String(thrown),
    );
    const ended = await runProgram([...HOST, ...way_in.start([program, ...launch.args])], options);
    const late = delay(1_000, 'not everything was answered when the host had ended', { ref: false });
    return { ended, trouble: model.finished ? await Promise.race([answered, late]) : (model.trouble ?? 'it was ended before its end') };
  };

  try {
    if (launch.before !== undefined) await runProgram(way_in.start([program, ...launch.before]), options);
    const first = await runHost(
      (async () => {
        if (way === 'stdio') {
          await some('before and after a yes', FIX);
          await approve();
        }
        await some('before and after a yes', `${FIX} greet`);
        await approve();
        await some('changed', CODE);
        await approve();
      })(),
    );
    const searched = model.exchanges;
    configure({});
    if (way_in.up !== undefined) await readAgain(way_in);
    model.restart(() => start(listed(wrap), ['shell', TOOL]));
    const second = await runHost(
      (async () => {
        await until(() => texts('listed and changed').some((text) => !isGreeting(text)));
        await approve();
      })(),
    );
    await way_in.up?.end();
    const rows = await auditRows(place);
    const verified = await runProgram([WRIT, 'audit', 'verify'], { cwd: place.workspace, env: place.env, deadline_ms: 60_000 });

    const seen = [...searched, ...model.exchanges];
    const of = (label: string): readonly string[] => seen.filter(({ call }) => call.label === label).map(({ text }) => text);
    const last = (label: string): string => of(label).at(-1) ?? '';
    const calls = (code: string | undefined): number => countCalls(rows, code);
    const gone = last('listed and changed');
    tell(`${host.name} ${host.version} ${way === 'stdio' ? 'over stdio' : 'over HTTP'}, and other MCP servers behind Writ`, rows, [
      ['the host ended well, twice', bad(first.ended) ?? bad(second.ended)],
      ['searching: the script came to its end', first.trouble],
      ['before a yes: refused, with what a person does', lacks(of('before and after a yes')[0] ?? '', [CODE, FIX])],
      ['after it: called', lacks(last('before and after a yes'), [`${FIRST}, Ada`])],
      ['another definition: refused until a person has seen the difference', lacks(last('changed'), [CODE, FIX])],
      ['the person saw what differs', lacks(screens.at(way === 'stdio' ? 2 : 1) ?? '', ['politely'])],
      ['approved again: called', lacks(last('changed and approved'), [`${SECOND}, Cy`])],
      ['find_tools finds it', lacks(last('find_tools'), ['many__times_21'])],
      ['describe_tool has its schema', lacks(last('describe_tool'), ['To be multiplied'])],
      ['call_tool calls it', lacks(last('call_tool'), ['It is 42.'])],
      ['listed: the script came to its end', second.trouble],
      ['listed: called by its own name', lacks(last('listed'), [`${SECOND}, Dee`])],
      ['listed, and another definition: not called', isGreeting(gone) || gone === '' ? `called: ${gone}` : undefined],
      ['listed, and approved again: called', lacks(last('listed, changed and approved'), [`${THIRD}, Flo`])],
      [
        'the record: each yes, each change',
        counted(rows, {
          'upstream.approved': way === 'stdio' ? 1 : 0,
          'upstream_tool.approved': 3,
          'upstream_tool.changed': 2,
        }),
      ],
      [
        'the record: each call under the name of its tool',
        calls(undefined) >= 4 && calls(CODE) >= 2 ? undefined : `${calls(undefined)} called, ${calls(CODE)} refused`,
      ],
      ['writ audit verify', verified.code === 0 ? undefined : verified.stderr],
    ]);
    console.log(`offered: ${model.offered.map(({ namespace = '', name }) => namespace + name).join(' ')}`);
    console.log(`after the change, in the same conversation: ${toldBy(gone)}`);
    for (const [what, label] of [
      ['refused', 'before and after a yes'],
      ['changed', 'changed'],
    ] as const)
      console.log(`--- ${what}\n${(of(label).find((text) => text.includes(CODE)) ?? '').slice(0, 700)}`);
  } finally {
    stop.abort();
    await way_in.up?.end();
    await model.close();
    place.remove();
  }
}

function serverOf({ workspace }: AskedPlace, what: string): object {
  return { command: 'node', args: [PROGRAM, what], cwd: workspace, roots: [workspace], network: 'none' };
}

function bad({ code, stdout, stderr }: Ended): string | undefined {
  return code === 0 ? undefined : `exit ${code}\n${stderr.slice(-1_500)}\n${stdout.slice(-1_500)}`;
}

/** Until the edit of the configuration was taken up. */
async function readAgain({ up }: WayIn): Promise<void> {
  const deadline = Date.now() + 20_000;
  while (!up?.stderr().includes('was read again')) {
    if (Date.now() > deadline) throw new Error(`the configuration was not read again: ${up?.stderr()}`);
    await delay(100);
  }
}

function countCalls(rows: readonly Row[], code: string | undefined): number {
  const type = code === undefined ? 'action.decided' : 'action.refused';
  return rows.filter((row) => row.type === type && row.tool === TOOL && row.data.code === code).length;
}

function toldBy(text: string): string {
  if (text.includes(NOT_OFFERED)) return 'the host had taken the tool away';
  return text.includes(CODE) ? 'the host called it, and it was refused' : `the host said: ${text.slice(0, 300)}`;
}
