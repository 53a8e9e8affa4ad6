import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { makePlace, type Place, runWrit, startMcp, WRIT } from '../helpers/writ-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

function configure(config: unknown): void {
  mkdirSync(place.home, { mode: 0o700, recursive: true });
  writeFileSync(join(place.home, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
}

describe('writ check', () => {
  test.each([
    [0, 'ls -la'],
    [0, 'npm test'],
    [10, 'curl https://example.com/'],
    [11, 'rm -rf /'],
    [11, "echo 'unclosed"],
  ])('exits with %i for %s', async (code, command) => {
    const result = await runWrit(place, ['check', '--', command]);
    expect({ code: result.code, stderr: result.stderr }).toEqual({ code, stderr: '' });
  });

  test('shows each finding: span, decoded words, reason, and what a yes would open', async () => {
    const { stdout } = await runWrit(place, ['check', '--json', '--', 'e\\cho a; c""at ~/.ssh/id_rsa']);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'prompt',
      effects: ['credential_access'],
      findings: [
        {
          effect: 'credential_access',
          span: [9, 28],
          argv: ['cat', expect.stringContaining('.ssh/id_rsa')],
          reason: expect.any(String),
          opens: { type: 'path', access: 'read' },
        },
      ],
    });
  });

  test('uses the rules of the operator, and the project may only tighten them', async () => {
    configure({ dangerous: { allow: [{ argv: ['curl', '**'], match: ['curl https://example.com'], not_match: ['wget x'] }] } });
    expect((await runWrit(place, ['check', '--', 'curl https://example.com/'])).code).toBe(0);
    writeFileSync(
      join(place.workspace, 'writ.json'),
      JSON.stringify({ dangerous: { deny: [{ argv: ['ls', '**'] }], allow: [{ argv: ['rm', '**'] }] } }),
    );
    expect((await runWrit(place, ['check', '--', 'ls'])).code).toBe(11);
    expect((await runWrit(place, ['check', '--', 'rm -rf src'])).code).toBe(10);
    expect((await runWrit(place, ['check', '--cwd', place.workspace, '--', 'ls'], { cwd: '/' })).code).toBe(11);
  });

  test('a folder that does not exist is said', async () => {
    const result = await runWrit(place, ['check', '--cwd', '/nonexistent', '--', 'ls']);
    expect(result).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('/nonexistent') });
  });
});

describe('configuration', () => {
  test.each([
    ['a rule whose example does not match', { dangerous: { deny: [{ argv: ['rm', '*'], match: ['rm a b'] }] } }, 'is not matched'],
    ['an unknown verdict', { dangerous: { classes: { install: 'maybe' } } }, 'config.json'],
    ['a misspelt key that would leave something open', { dangerus: { deny: [] } }, 'dangerous'],
    ['a key that stands twice', '{"sandbox": {}, \n "sandbox": {}}', 'sandbox'],
  ])('%s stops the start and is explained', async (_what, config, said) => {
    configure(config);
    const mcp = await runWrit(place, ['mcp', '--root', place.workspace]);
    expect(mcp).toMatchObject({ code: 78, stdout: '' });
    const check = await runWrit(place, ['config', 'check']);
    expect(check.code).toBe(78);
    expect(check.stdout).toContain(said);
  });

  test('a home that others can write to is refused with the fix', async () => {
    mkdirSync(place.home, { recursive: true });
    writeFileSync(join(place.home, 'x'), '');
    const { chmodSync } = await import('node:fs');
    chmodSync(place.home, 0o777);
    const result = await runWrit(place, ['check', '--', 'ls']);
    expect(result).toMatchObject({ code: 78, stdout: '', stderr: expect.stringContaining('chmod 700') });
  });
});

test('a job that the operator ends is ended, and the record says who did it', async () => {
  const mcp = await startMcp(place);
  const started = await mcp.call('shell', { command: 'sleep 300', background: true });
  const job_id = started.structured['job_id'] as string;
  await mcp.end();
  expect(await runWrit(place, ['job', 'cancel', job_id])).toMatchObject({ code: 0, stdout: expect.stringContaining('is cancelled') });
  const listed = await runWrit(place, ['audit', 'list', '--json', '--type', 'job.cancelled']);
  expect(JSON.parse(listed.stdout)).toMatchObject({ events: [{ data: { job_id, state: 'cancelled', by: 'operator' } }] });
  expect((await runWrit(place, ['audit', 'verify'])).code).toBe(0);
});

test('errors say what happened and what to do, with the exit code of the table', async () => {
  expect(await runWrit(place, ['job', 'show', 'job_nothing'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('`writ job list`'),
  });
  expect(await runWrit(place, ['nonsense'])).toMatchObject({ code: 2, stderr: expect.stringContaining('writ --help') });
  expect(await runWrit(place, ['connect', 'emacs'])).toMatchObject({ code: 2, stderr: expect.stringContaining('Known: Claude Code') });
});

test('connect prints what each host takes', async () => {
  const { stdout } = await runWrit(place, ['connect']);
  for (const text of ['claude mcp add writ -- ', '[mcp_servers.writ]', '"mcpServers"', '"servers"', '"type": "local"'])
    expect(stdout).toContain(text);
});

test('a reader that has read enough ends a command without a word', async () => {
  const [program, ...args] = WRIT;
  const child = spawn(program, [...args, 'check', '--', 'ls'], { env: place.env, cwd: place.workspace, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.destroy();
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  expect({ code, said }).toEqual({ code: 141, said: '' });
});
