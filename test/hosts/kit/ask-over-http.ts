import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HOST, personAt } from '../../helpers/person.ts';
import { startModel } from '../model/scripted-model.ts';
import type { Call, Seen } from '../model/wire.ts';
import { auditRows, counted, lacks, makeAskedPlace, tell } from './asked.ts';
import type { Host } from './host.ts';
import { install } from './install.ts';
import { openOperatorPage } from './operator-page.ts';
import { runProgram } from './run-program.ts';
import { openWayIn } from './way-in.ts';

const PENDING = 'approval_pending';
const NOTE = 'once was enough';

/**
 * A host over HTTP whose questions a person answers elsewhere, while the host waits: the first on the page, the second in a terminal. The third is left
 * until its call has ended as pending and the model makes it again. The fourth is the third once more, and is a no.
 */
export async function askOverHttp(host: Host): Promise<void> {
  const program = install(host);
  const place = makeAskedPlace();
  writeFileSync(join(place.home, 'config.json'), '{"approvals": {"wait_seconds": 20}}', { mode: 0o600 });
  const on_page = 'cat .env; echo page >> runs';
  // The network that a yes opens may be none: that the command ran is what counts.
  const in_terminal = 'curl -m 5 https://terminal.example; echo "ran after $?"';
  const late = 'curl -m 5 https://late.example; echo late >> runs; echo "ran after $?"';

  function* script(): Generator<Call, void, Seen> {
    const shell = (command: string, label: string): Call => {
      const call: Call = { tool: 'shell', of: 'writ', args: { command } };
      return { ...(host.wrap?.(call) ?? call), label };
    };
    for (const call of host.first?.(['shell']) ?? []) yield call;
    for (const [label, command] of [
      ['page', on_page],
      ['terminal', in_terminal],
      ['late', late],
      ['again', late],
    ] as const) {
      for (let pending = true; pending; ) pending = (yield shell(command, label)).text.includes(PENDING);
    }
    yield shell('cat runs', 'runs');
  }
  const model = await startModel(script);
  const texts = (label: string): readonly string[] => model.exchanges.filter(({ call }) => call.label === label).map(({ text }) => text);
  const way_in = await openWayIn('http', host.connect, place);
  if (way_in.up === undefined) throw new Error('writ up does not run');
  const page = await openOperatorPage(way_in.up);
  const terminal = personAt(place, ['approvals', 'watch']);
  const stop = new AbortController();
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await delay(100, undefined, { signal: stop.signal });
  };

  async function answerAll(): Promise<void> {
    await page.approve(on_page);
    await until(() => terminal.screen().includes('terminal.example'));
    await press('y');
    await until(() => texts('late').length > 0);
    // The terminal shows this question by now; what it shows from here on is another one.
    const before = terminal.screen().length;
    await page.approve(late);
    await until(() => terminal.screen().slice(before).includes('late.example'));
    for (const keys of ['n', `${NOTE}\r`]) await press(keys);
  }
  async function press(keys: string): Promise<void> {
    // What is typed as fast as a question appears is not an answer to it.
    await delay(1_500, undefined, { signal: stop.signal });
    terminal.type(keys);
  }

  try {
    const launch = host.prepare({
      home: place.host_home,
      workspace: place.workspace,
      model_url: model.url,
      printed: way_in.printed,
      server_env: undefined,
    });
    const { WRIT_HOME: _, ...outer } = place.env;
    const options = { cwd: place.workspace, env: { ...outer, ...launch.env }, deadline_ms: 150_000 };
    if (launch.before !== undefined) await runProgram(way_in.start([program, ...launch.before]), options);
    const answers = answerAll().then(
      () => undefined,
      (thrown: unknown) => String(thrown),
    );
    const ended = await runProgram(way_in.start([...HOST, program, ...launch.args]), options);
    stop.abort();
    await page.close();
    const trouble = await answers;
    await way_in.up.end();
    const rows = await auditRows(place);
    tell(`${host.name} ${host.version} over HTTP, and a person elsewhere`, rows, [
      ['the host ended well', ended.code === 0 ? undefined : ended.stderr.slice(-1_000)],
      [
        'the script came to its end',
        model.finished ? undefined : (model.trouble ?? `${trouble}; the terminal: ${terminal.screen().slice(-1_500)}`),
      ],
      ['a yes on the page, while the host waits', lacks(texts('page').join(), ['GREETING=hello']) ?? mustNot(texts('page'))],
      ['a yes in a terminal, while the host waits', lacks(texts('terminal').join(), ['ran after']) ?? mustNot(texts('terminal'))],
      [
        'pending, and the outcome to the same call again',
        lacks(texts('late')[0] ?? '', [PENDING]) ?? lacks(texts('late').at(-1) ?? '', ['ran after']),
      ],
      ['the outcome once: the same call asks anew, and a no has its note', lacks(texts('again').at(-1) ?? '', ['denied_by_human', NOTE])],
      [
        'each ran once',
        lacks(texts('runs').join(), ['page', 'late']) ??
          (texts('runs')
            .join()
            .match(/page|late/g)?.length === 2
            ? undefined
            : texts('runs').join()),
      ],
      ['four questions, three of them used', counted(rows, { 'approval.requested': 4, 'approval.used': 3 })],
      ['the token is in its file alone', way_in.token === undefined || model.wasTold(way_in.token) ? 'the model saw it' : undefined],
    ]);
  } finally {
    stop.abort();
    terminal.kill();
    await page.close();
    await way_in.up.end();
    await model.close();
    place.remove();
  }
}

const mustNot = (all: readonly string[]): string | undefined =>
  all.join().includes(PENDING) ? `it was pending: ${all.join().slice(0, 500)}` : undefined;
