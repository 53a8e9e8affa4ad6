import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLAUDE_CODE } from '../agents/claude-code.ts';
import { startModel } from '../model/scripted-model.ts';
import type { Call, Seen } from '../model/wire.ts';
import { auditRows, counted, lacks, makeAskedPlace, tell } from './asked.ts';
import { install } from './install.ts';
import { runProgram } from './run-program.ts';
import { openWayIn } from './way-in.ts';

/**
 * Claude Code asks its person for Writ, in the revision that it speaks by itself. In place of the person stands a hook of the user's, which reads the
 * form that would be shown and says yes to one question, no with a note to another, and nothing to the third.
 */

const answer = (content: object): string =>
  JSON.stringify({ hookSpecificOutput: { hookEventName: 'Elicitation', action: 'accept', content } });
const PERSON = `#!/bin/sh
form=$(cat)
case "$form" in
*"cat .env"*) echo '${answer({ decision: 'approve' })}' ;;
*"curl https"*) sleep 1; echo '${answer({ decision: 'deny', note: 'use the mirror' })}' ;;
esac
`;
const WANTED: readonly (readonly [command: string, answer: readonly string[]])[] = [
  ['cat .env', ['GREETING=hello']],
  ['curl https://example.com', ['denied_by_human', 'use the mirror']],
  ['npm install left-pad', ['no_channel', 'dismissed']],
];

export async function askClaudeCode(way: 'stdio' | 'http'): Promise<void> {
  const program = install(CLAUDE_CODE);
  const place = makeAskedPlace();
  const person = join(place.base, 'person');
  writeFileSync(person, PERSON, { mode: 0o755 });
  mkdirSync(join(place.host_home, '.claude'));
  const hooks = { Elicitation: [{ hooks: [{ type: 'command', command: person }] }] };
  writeFileSync(join(place.host_home, '.claude', 'settings.json'), JSON.stringify({ hooks }));

  function* script(): Generator<Call, void, Seen> {
    for (const [command] of WANTED) yield { tool: 'shell', of: 'writ', args: { command } };
  }
  const model = await startModel(script);
  const way_in = await openWayIn(way, CLAUDE_CODE.connect, place, { token: ['--attended'] });
  try {
    const launch = CLAUDE_CODE.prepare({
      home: place.host_home,
      workspace: place.workspace,
      model_url: model.url,
      printed: way_in.printed,
      // It is started without a terminal, which it tells the servers that it starts; here somebody does answer.
      server_env: way === 'http' ? undefined : { WRIT_HOME: place.home, CLAUDE_CODE_ENTRYPOINT: 'cli' },
    });
    const { WRIT_HOME: _, ...outer } = place.env;
    const options = { cwd: place.workspace, env: { ...outer, ...launch.env }, deadline_ms: 120_000 };
    await runProgram(way_in.start([program, ...(launch.before ?? [])]), options);
    const ended = await runProgram(way_in.start([program, ...launch.args]), options);
    await way_in.up?.end();
    const rows = await auditRows(place);
    tell(`${CLAUDE_CODE.name} ${CLAUDE_CODE.version}, asked${way === 'http' ? ' over HTTP' : ''}`, rows, [
      ['the host ended well', ended.code === 0 ? undefined : ended.stderr.slice(-1_000)],
      ['the script came to its end', model.finished ? undefined : (model.trouble ?? 'it did not')],
      ...WANTED.map(([command, wanted], at) => [command, lacks(model.exchanges[at]?.text ?? '', wanted)] as const),
      ['three questions, one of them used', counted(rows, { 'approval.requested': 3, 'approval.used': 1 })],
    ]);
  } finally {
    await way_in.up?.end();
    await model.close();
    place.remove();
  }
}
