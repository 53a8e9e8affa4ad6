import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditRows, counted, lacks, makeAskedPlace, tell } from './kit/asked.ts';
import { install } from './kit/install.ts';
import { runProgram } from './kit/run-program.ts';
import { WRIT } from './kit/writ.ts';
import { startModel } from './model/scripted-model.ts';
import type { Call, Seen } from './model/wire.ts';

/**
 * Claude Code asks its person for Writ, in the revision that it speaks by itself. In place of the person stands a hook of the user's, which reads the
 * form that would be shown and says yes to one question, no with a note to another, and nothing to the third.
 */

const CLAUDE = { name: 'Claude Code', folder: 'claude', package: '@anthropic-ai/claude-code', version: '2.1.332', bin: 'claude' } as const;
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

const program = install({ ...CLAUDE, connect: 'claude-code', prepare: () => ({ args: [], env: {} }) });
const place = makeAskedPlace();
const person = join(place.base, 'person');
writeFileSync(person, PERSON, { mode: 0o755 });
mkdirSync(join(place.host_home, '.claude'));
const hooks = { Elicitation: [{ hooks: [{ type: 'command', command: person }] }] };
writeFileSync(join(place.host_home, '.claude', 'settings.json'), JSON.stringify({ hooks }));
// It is started without a terminal, which it tells its servers; here somebody does answer.
const env = { WRIT_HOME: place.home, CLAUDE_CODE_ENTRYPOINT: 'cli' };
const servers = join(place.base, 'servers.json');
writeFileSync(servers, JSON.stringify({ mcpServers: { writ: { command: WRIT, args: ['mcp', '--root', place.workspace], env } } }));

function* script(): Generator<Call, void, Seen> {
  for (const [command] of WANTED) yield { tool: 'shell', of: 'writ', args: { command } };
}
const model = await startModel(script);
try {
  const ended = await runProgram(
    [program, '-p', 'go', '--allowedTools', 'mcp__writ', '--mcp-config', servers, '--strict-mcp-config', '--output-format', 'json'],
    {
      cwd: place.workspace,
      env: {
        ...place.env,
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'sk-scripted',
        MCP_CONNECTION_NONBLOCKING: 'false',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
      deadline_ms: 240_000,
    },
  );
  const rows = await auditRows(place);
  tell(`${CLAUDE.name} ${CLAUDE.version}, asked`, rows, [
    ['the host ended well', ended.code === 0 ? undefined : ended.stderr.slice(-1_000)],
    ['the script came to its end', model.finished ? undefined : (model.trouble ?? 'it did not')],
    ...WANTED.map(([command, wanted], at) => [command, lacks(model.exchanges[at]?.text ?? '', wanted)] as const),
    ['three questions, one of them used', counted(rows, { 'approval.requested': 3, 'approval.used': 1 })],
  ]);
} finally {
  await model.close();
  place.remove();
}
