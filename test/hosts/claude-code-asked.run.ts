import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { install } from './kit/install.ts';
import { runProgram } from './kit/run-program.ts';
import { startModel } from './model/scripted-model.ts';
import type { Call, Seen } from './model/wire.ts';

/**
 * Claude Code asks its person for Writ, in the revision that it speaks by itself. In place of the person stands a hook of the user's, which reads the
 * form that would be shown and says yes to one question, no with a note to another, and nothing to the third.
 */

const CLAUDE = { name: 'Claude Code', folder: 'claude', package: '@anthropic-ai/claude-code', version: '2.1.332', bin: 'claude' } as const;
const WRIT = fileURLToPath(new URL('../../writ', import.meta.url));
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
const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-host-')));
const [home = '', work = '', writ = ''] = ['home', 'work', 'writ'].map((name) => {
  mkdirSync(join(base, name), { mode: 0o700 });
  return join(base, name);
});
execFileSync('git', ['init', '--quiet', work]);
writeFileSync(join(work, '.env'), 'GREETING=hello\n');
const person = join(base, 'person');
writeFileSync(person, PERSON, { mode: 0o755 });
mkdirSync(join(home, '.claude'));
writeFileSync(
  join(home, '.claude', 'settings.json'),
  JSON.stringify({ hooks: { Elicitation: [{ hooks: [{ type: 'command', command: person }] }] } }),
);
// It is started without a terminal, which it tells its servers; here somebody does answer.
const server_env = { WRIT_HOME: writ, CLAUDE_CODE_ENTRYPOINT: 'cli' };
const servers = join(base, 'servers.json');
writeFileSync(servers, JSON.stringify({ mcpServers: { writ: { command: WRIT, args: ['mcp', '--root', work], env: server_env } } }));

function* script(): Generator<Call, void, Seen> {
  for (const [command] of WANTED) yield { tool: 'shell', of: 'writ', args: { command }, label: command };
}
const model = await startModel(script);
const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
try {
  const ended = await runProgram(
    [program, '-p', 'go', '--allowedTools', 'mcp__writ', '--mcp-config', servers, '--strict-mcp-config', '--output-format', 'json'],
    {
      cwd: work,
      env: {
        PATH: path,
        HOME: home,
        TERM: 'dumb',
        LANG: 'C.UTF-8',
        ANTHROPIC_BASE_URL: model.url,
        ANTHROPIC_API_KEY: 'sk-scripted',
        MCP_CONNECTION_NONBLOCKING: 'false',
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        DISABLE_AUTOUPDATER: '1',
      },
      deadline_ms: 240_000,
    },
  );
  const audit = await runProgram([WRIT, 'audit', 'list', '--json', '--limit', '100'], {
    cwd: work,
    env: { PATH: path, WRIT_HOME: writ },
    deadline_ms: 60_000,
  });
  const rows = (JSON.parse(audit.stdout) as { events: { type: string; data: { client?: { protocol: string } } }[] }).events;
  const count = (type: string): number => rows.filter((row) => row.type === type).length;
  const checks: [what: string, problem: string | undefined][] = [
    ['the host ended well', ended.code === 0 ? undefined : ended.stderr.slice(-1_000)],
    ['the script came to its end', model.finished ? undefined : (model.trouble ?? 'it did not')],
    ...WANTED.map(([command, wanted], index): [string, string | undefined] => {
      const { text = 'nothing' } = model.exchanges[index] ?? {};
      return [`${command}: ${wanted.join(', ')}`, wanted.every((each) => text.includes(each)) ? undefined : text.slice(0, 1_000)];
    }),
    ['three questions, one of them used', count('approval.requested') === 3 && count('approval.used') === 1 ? undefined : audit.stdout],
  ];
  console.log(`${CLAUDE.name} ${CLAUDE.version}, asked`);
  console.log(`protocol: ${[...new Set(rows.flatMap(({ data }) => data.client?.protocol ?? []))].join(', ')}`);
  for (const [what, problem] of checks) console.log(problem === undefined ? `ok      ${what}` : `FAILED  ${what}: ${problem}`);
  if (checks.some(([, problem]) => problem !== undefined)) process.exitCode = 1;
} finally {
  await model.close();
  rmSync(base, { recursive: true, force: true, maxRetries: 5 });
}
