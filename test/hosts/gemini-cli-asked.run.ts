import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { HOST, personAt } from '../helpers/person.ts';
import { auditRows, counted, lacks, makeAskedPlace, tell } from './kit/asked.ts';
import { install } from './kit/install.ts';
import { runProgram } from './kit/run-program.ts';
import { WRIT } from './kit/writ.ts';
import { startModel } from './model/scripted-model.ts';
import type { Call, Seen } from './model/wire.ts';

/**
 * Gemini CLI can't ask anybody, and a person watches in a terminal of their own. They answer the first question only when the call has
 * ended as pending, so that its model makes it again; the second one while the call waits.
 */

const GEMINI = { name: 'Gemini CLI', folder: 'gemini', package: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' } as const;
const READ = 'cat .env; echo ran >> runs';
const FETCH = 'curl https://example.com';

const program = install({ ...GEMINI, connect: 'gemini-cli', prepare: () => ({ args: [], env: {} }) });
const place = makeAskedPlace();
writeFileSync(join(place.home, 'config.json'), '{"approvals": {"wait_seconds": 8}}', { mode: 0o600 });
for (const folder of [place.host_home, place.workspace]) mkdirSync(join(folder, '.gemini'));
const user = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
};
const writ = { command: WRIT, args: ['mcp', '--root', place.workspace], env: { WRIT_HOME: place.home }, trust: true };
writeFileSync(join(place.host_home, '.gemini', 'settings.json'), JSON.stringify(user));
writeFileSync(join(place.workspace, '.gemini', 'settings.json'), JSON.stringify({ mcpServers: { writ } }));

function* script(): Generator<Call, void, Seen> {
  for (const command of [READ, FETCH]) {
    for (let pending = true; pending; ) {
      const { text } = yield { tool: 'shell', of: 'writ', args: { command } };
      pending = text.includes('approval_pending');
    }
  }
  yield { tool: 'shell', of: 'writ', args: { command: 'wc -l < runs' } };
}
const model = await startModel(script);
const texts = (command: string): string => {
  const of = model.exchanges.filter(({ call }) => call.args['command'] === command);
  return of.map(({ text }) => text).join('\n---\n');
};
const person = personAt(place, ['approvals', 'watch']);
const stop = new AbortController();

async function answer(command: string, keys: readonly string[], when: () => boolean = () => true): Promise<void> {
  const shown = (): boolean => person.screen().includes(command) && when();
  while (!shown()) await delay(100, undefined, { signal: stop.signal });
  for (const key of keys) {
    await delay(1_500, undefined, { signal: stop.signal });
    person.type(key);
  }
}

try {
  const answers = answer(READ, ['y'], () => texts(READ).includes('approval_pending')).then(() => answer(FETCH, ['n', 'use the mirror\r']));
  const ended = await runProgram([...HOST, program, '-p', 'go', '-m', 'gemini-2.5-flash', '--output-format', 'json'], {
    cwd: place.workspace,
    env: { ...place.env, GEMINI_API_KEY: 'scripted', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
    deadline_ms: 240_000,
  });
  stop.abort();
  await answers.catch(() => {});
  const rows = await auditRows(place);
  tell(`${GEMINI.name} ${GEMINI.version}, and a person elsewhere`, rows, [
    ['the host ended well', ended.code === 0 ? undefined : ended.stderr.slice(-1_000)],
    ['the script came to its end', model.finished ? undefined : (model.trouble ?? person.screen().slice(-1_000))],
    [`${READ}: pending, then done`, lacks(texts(READ), ['approval_pending', 'GREETING=hello'])],
    [`${FETCH}: a no with its note`, lacks(texts(FETCH), ['denied_by_human', 'use the mirror'])],
    ['it ran once', lacks(texts('wc -l < runs'), ['1'])],
    ['two questions, one of them used', counted(rows, { 'approval.requested': 2, 'approval.used': 1 })],
  ]);
} finally {
  stop.abort();
  person.kill();
  await model.close();
  place.remove();
}
