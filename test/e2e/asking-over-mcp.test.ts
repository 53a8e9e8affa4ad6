import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { http, makeToken, openPage, startUp, type UpProcess } from '../helpers/up-process.ts';
import { type McpProcess, makePlace, type Place, runWrit, startMcp } from '../helpers/writ-process.ts';

/** From the question to the action, through the client that the agent runs in: nothing but the shipped server, its store and a sandbox. */

let place: Place;
let mcp: McpProcess | undefined;
let up: UpProcess | undefined;

beforeEach(() => {
  place = makePlace();
  writeFileSync(join(place.workspace, '.env'), 'GREETING=hello\n');
});
afterEach(async () => {
  await mcp?.end();
  mcp = undefined;
  await up?.end();
  up = undefined;
  place.remove();
});

const READ = { command: 'cat .env; echo ran >> runs' };
const YES = { action: 'accept', content: { decision: 'approve' } };
const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
};

type Result = { resultType?: string; requestState?: string; isError?: boolean; content?: { text: string }[]; inputRequests?: object };

function modern(args: object, more: object = {}): Promise<Result> {
  return mcp?.ask('tools/call', { name: 'shell', arguments: args, _meta: META, ...more }) as Promise<Result>;
}

async function ask(args: object): Promise<string> {
  const question = await modern(args);
  expect(question.resultType).toBe('input_required');
  expect(JSON.stringify(question.inputRequests)).toContain('cat .env');
  return question.requestState ?? '';
}

const textOf = ({ content = [] }: Result): string => content.map(({ text }) => text).join('\n');

async function audit(): Promise<readonly { type: string; data: Record<string, unknown> }[]> {
  const { stdout } = await runWrit(place, ['audit', 'list', '--json', '--limit', '100']);
  return (JSON.parse(stdout) as { events: Awaited<ReturnType<typeof audit>> }).events;
}

async function runs(): Promise<number> {
  const result = await mcp?.call('shell', { command: 'wc -l < runs || true' });
  return Number.parseInt(String(result?.structured['stdout']) || '0', 10);
}

test('2025-11-25: the form names the file, the yes opens it once, and the next call asks again', async () => {
  const shown: string[] = [];
  mcp = await startMcp(place, {
    capabilities: { elicitation: {} },
    onRequest(method, params) {
      expect(method).toBe('elicitation/create');
      shown.push(String(params['message']));
      return shown.length === 1 ? YES : { action: 'cancel' };
    },
  });
  const first = await mcp.call('shell', READ);
  expect(first).toMatchObject({ isError: false });
  expect(first.structured['stdout']).toBe('GREETING=hello\n');
  expect(shown[0]).toContain(`${join(place.workspace, '.env')} for reading`);
  const second = await mcp.call('shell', READ);
  expect(second.text).toContain('no_channel');
  expect(second.text).toContain('dismissed');
  expect(await runs()).toBe(1);
});

test('2026-07-28: the question is the answer, the retry runs, once', async () => {
  mcp = await startMcp(place);
  const state = await ask(READ);
  const retry = { requestState: state, inputResponses: { approval: YES } };
  const both = await Promise.all([modern(READ, retry), modern(READ, retry)]);
  expect(both.filter(({ isError }) => isError === false)).toHaveLength(1);
  expect(textOf(both.find(({ isError }) => isError === false) ?? {})).toContain('GREETING=hello');
  expect((await modern(READ, retry)).isError).toBe(true);
  expect(await runs()).toBe(1);
});

test('2026-07-28: a state that was changed, or belongs to another call, is an error, and all of it is in the record', async () => {
  mcp = await startMcp(place);
  const state = await ask(READ);
  const inputResponses = { approval: YES };
  await expect(modern(READ, { requestState: `${state}x`, inputResponses })).rejects.toMatchObject({ code: -32602 });
  await expect(modern({ command: 'cat .env .netrc' }, { requestState: state, inputResponses })).rejects.toMatchObject({ code: -32602 });
  expect(await runs()).toBe(0);
  const rows = await audit();
  expect(rows.filter(({ type }) => type === 'approval.refused').map(({ data }) => data['reason'])).toEqual(
    expect.arrayContaining([expect.stringContaining('signature'), expect.stringContaining('another call')]),
  );
  expect(rows.map(({ type }) => type)).toContain('approval.requested');
  // The question is still open, and its own answer still counts.
  expect(textOf(await modern(READ, { requestState: state, inputResponses }))).toContain('GREETING=hello');
});

test('a client without a way to ask is told what to do instead', async () => {
  mcp = await startMcp(place);
  const refused = await mcp.call('shell', READ);
  expect(refused.isError).toBe(true);
  expect(refused.text).toContain('no_channel');
  expect(refused.text).toContain('writ approvals watch');
});

test('a host that runs without a person is not asked, whatever it declares', async () => {
  let asked = 0;
  const alone = { ...place, env: { ...place.env, CLAUDE_CODE_ENTRYPOINT: 'sdk-cli' } };
  const onRequest = (): unknown => {
    asked += 1;
    return YES;
  };
  mcp = await startMcp(alone, { capabilities: { elicitation: {} }, onRequest });
  expect((await mcp.call('shell', READ)).text).toContain('no_channel');
  expect(asked).toBe(0);
});

test('through writ up: the form goes through the relay to the client that asked', async () => {
  up = await startUp(place);
  const onRequest = (method: string): unknown => (method === 'elicitation/create' ? YES : undefined);
  mcp = await startMcp(place, { capabilities: { elicitation: {} }, onRequest });
  expect((await mcp.call('shell', READ)).structured['stdout']).toBe('GREETING=hello\n');
});

test('through writ up: a client that can only open pages is sent to the question, and the call gets what is said there', async () => {
  up = await startUp(place);
  const page = await openPage(up);
  let sent = '';
  const onRequest = (_method: string, { url }: Record<string, unknown>): unknown => {
    sent = String(url);
    return { action: 'accept' };
  };
  mcp = await startMcp(place, { capabilities: { elicitation: { url: {} } }, onRequest });
  const answer = mcp.call('shell', READ);
  await expect.poll(() => sent, { timeout: 40_000 }).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/#apr_/);
  await page.act(`approvals/${sent.split('#')[1]}`, { decision: 'approve', 'open.0': 'keep' });
  expect((await answer).structured['stdout']).toBe('GREETING=hello\n');
});

test('over HTTP a question outlasts the server, and its answer is good for the agent that was asked and no other', async () => {
  await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
  const attended = ['-w', 'main', '--attended'];
  const [asked, other] = [await makeToken(place, 'asked', attended), await makeToken(place, 'other', attended)];
  const send = async (token: string, more: object = {}): Promise<{ result?: Result; error?: { code: number } }> => {
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'shell',
    };
    const params = { name: 'shell', arguments: READ, _meta: META, ...more };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    const { text } = await http(`${up?.url}/mcp`, { method: 'POST', headers, body });
    return JSON.parse(/^(?:data: )?(\{"jsonrpc".*\})$/m.exec(text)?.[1] ?? text);
  };
  up = await startUp(place);
  const { result } = await send(asked);
  expect(result?.resultType).toBe('input_required');
  const retry = { requestState: result?.requestState, inputResponses: { approval: YES } };
  expect(await up.end()).toBe(0);
  up = await startUp(place);
  expect((await send(other, retry)).error?.code).toBe(-32602);
  expect(textOf((await send(asked, retry)).result ?? {})).toContain('GREETING=hello');
  expect((await send(asked, retry)).result?.isError).toBe(true);
  // A program that nobody sits at would only ask itself.
  const alone = await send(await makeToken(place, 'alone', ['-w', 'main']));
  expect(textOf(alone.result ?? {})).toContain('no_channel');
});
