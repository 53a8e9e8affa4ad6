import { createHmac } from 'node:crypto';
import { expect, test, vi } from 'vitest';
import type { Clock } from '../../src/kernel/clock.ts';
import type { ServerParts, Signer } from '../../src/mcp/types.ts';
import { connect, MODERN_META, type TestClient } from './client.ts';
import { OWNER, QUESTION } from './fake-gate.ts';
import type { Message } from './schema.ts';

const signer: Signer = {
  sign: (text) => createHmac('sha256', 'key').update(text).digest('base64url'),
  verify: (text, signature) => signer.sign(text) === signature,
};
const approvalUrl = (): string => 'http://127.0.0.1:7420/approvals/appr_01k0000000000000000000';
const call = (id: unknown, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method: 'tools/call',
  params: { name: 'ask', arguments: {}, ...params },
});
const text = (message: Message): string =>
  (message['result'] as { content: { text: string }[] } | undefined)?.content.map((each) => each.text).join('\n') ??
  JSON.stringify(message);

/** On a busy machine too. */
const soon = (check: () => void): Promise<void> => vi.waitFor(check, { timeout: 60_000 });

/** A clock that a test moves. */
function movable(): Clock & { pass(ms: number): void } {
  let at = 1_000_000;
  const pass = (ms: number): void => {
    at += ms;
  };
  return { now: () => at, monotonic: () => at, pass };
}

type Elicitation = {
  id: string;
  params: { mode?: string; message: string; requestedSchema: Message; url?: string; elicitationId?: string };
};

async function asked(client: TestClient): Promise<Elicitation> {
  return (await client.take((message) => message['method'] === 'elicitation/create')) as unknown as Elicitation;
}

test.each([
  ['2025-06-18', undefined, { enum: ['approve', 'deny'], enumNames: ['Approve this once', 'Deny'] }],
  [
    '2025-11-25',
    'form',
    {
      oneOf: [
        { const: 'approve', title: 'Approve this once' },
        { const: 'deny', title: 'Deny' },
      ],
    },
  ],
] as const)('%s: the card is a form on the call, and the yes comes back with note and word', async (revision, mode, choices) => {
  const client = connect();
  client.gate.question = { ...QUESTION, card: { ...QUESTION.card, word: 'DELETE' } };
  await client.initialize(revision, { elicitation: {} });
  client.send(call(1));
  const { id, params } = await asked(client);
  expect(params.mode).toBe(mode);
  expect(params.message).toContain('│ curl https://example.com/x');
  expect(params.requestedSchema).toMatchObject({ required: ['decision'], properties: { decision: choices } });
  expect(Object.keys(params.requestedSchema['properties'] as object)).toEqual(['decision', 'note', 'word']);
  expect(JSON.stringify(params.requestedSchema)).not.toContain('default');
  const content = { decision: 'approve', note: ' go on ', word: 'DELETE' };
  client.send({ jsonrpc: '2.0', id, result: { action: 'accept', content } });
  expect(JSON.parse(text(await client.answer(1)).replace('echo: ', ''))).toEqual({ decision: 'approve', note: 'go on', word: 'DELETE' });
  await client.end();
});

test.each([
  ['decline', { action: 'decline' }, 600, 'denied_by_human', '{"decision":"deny"}'],
  ['deny with a note', { action: 'accept', content: { decision: 'deny', note: 'use npm ci' } }, 600, 'denied_by_human', 'use npm ci'],
  ['decline at once', { action: 'decline' }, 499, 'no_channel', 'sooner than a person'],
  ['deny at once', { action: 'accept', content: { decision: 'deny' } }, 0, 'no_channel', 'sooner than a person'],
  ['cancel', { action: 'cancel' }, 9_000, 'no_channel', 'dismissed'],
  ['accept without content', { action: 'accept' }, 9_000, 'no_channel', 'without a decision'],
  ['another decision', { action: 'accept', content: { decision: 'APPROVE' } }, 9_000, 'no_channel', 'without a decision'],
  ['a list of decisions', { action: 'accept', content: { decision: ['approve'] } }, 9_000, 'no_channel', 'without a decision'],
  ['content that is a list', { action: 'accept', content: [{ decision: 'approve' }] }, 9_000, 'no_channel', 'without a decision'],
  [
    'an inherited decision',
    JSON.parse('{"action":"accept","content":{"__proto__":{"decision":"approve"}}}'),
    9_000,
    'no_channel',
    'decision',
  ],
  ['a note of a wrong type', { action: 'accept', content: { decision: 'approve', note: { a: 1 } } }, 9_000, 'no_channel', 'wrong type'],
  ['a word of a wrong type', { action: 'accept', content: { decision: 'approve', word: 7 } }, 9_000, 'no_channel', 'wrong type'],
  ['another action', { action: 'approve' }, 9_000, 'no_channel', 'no answer to a form'],
  ['nothing', null, 9_000, 'no_channel', 'no answer to a form'],
  ['text', 'approve', 9_000, 'no_channel', 'no answer to a form'],
])('%s', async (_name, result, ms, code, says) => {
  const clock = movable();
  const client = connect({ clock });
  await client.initialize('2025-11-25', { elicitation: { form: {} } });
  client.send(call(1));
  const { id } = await asked(client);
  clock.pass(ms);
  client.send({ jsonrpc: '2.0', id, result });
  const answer = text(await client.answer(1));
  expect(answer).toContain(code);
  expect(answer).toContain(says);
  await client.end();
});

test('an error, an answer to nothing, a second and a late answer decide nothing; megabytes of note are cut and counted', async () => {
  const clock = movable();
  const client = connect({ clock });
  await client.initialize('2025-11-25', { elicitation: {} });
  const yes = { action: 'accept', content: { decision: 'approve' } };
  client.send(call(1));
  const first = await asked(client);
  client.send(
    { jsonrpc: '2.0', id: 'writ-1', result: yes },
    { jsonrpc: '2.0', id: 1, result: yes },
    { jsonrpc: '2.0', id: null, result: yes },
  );
  client.send({ jsonrpc: '2.0', id: first.id, error: { code: -32601, message: 'never heard of it' } });
  expect(text(await client.answer(1))).toContain('the client could not ask: never heard of it');
  client.send({ jsonrpc: '2.0', id: first.id, result: yes });

  client.send(call(2));
  const second = await asked(client);
  expect(second.id).not.toBe(first.id);
  clock.pass(1_000);
  const note = 'n'.repeat(3_000_000);
  client.send({ jsonrpc: '2.0', id: second.id, result: { action: 'accept', content: { decision: 'deny', note } } });
  client.send({ jsonrpc: '2.0', id: second.id, result: yes });
  const refusal = text(await client.answer(2));
  expect(refusal).toContain('[2998000 more characters are left out]');
  expect(refusal.length).toBeLessThan(3_000);
  await soon(() => expect(client.logged.filter((line) => line.includes('nothing that was asked'))).toHaveLength(5));
  await client.end();
});

test('when somebody else was first the client takes the question away, and what it still says is dropped', async () => {
  const client = connect();
  await client.initialize('2025-06-18', { elicitation: {} });
  client.send(call(1));
  const { id } = await asked(client);
  client.gate.answerElsewhere();
  expect(await client.take((message) => message['method'] === 'notifications/cancelled')).toMatchObject({ params: { requestId: id } });
  expect(text(await client.answer(1))).toContain('approved elsewhere');
  client.send({ jsonrpc: '2.0', id, result: { action: 'decline' } });
  await soon(() => expect(client.logged.join()).toContain('nothing that was asked'));
  await client.end();
});

test('a cancelled call takes its question with it; the end of the connection too', async () => {
  const client = connect();
  await client.initialize('2025-11-25', { elicitation: {} });
  client.send(call(1));
  const { id } = await asked(client);
  client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  await client.take((message) => message['method'] === 'notifications/cancelled' && (message['params'] as Message)['requestId'] === id);
  client.send({ jsonrpc: '2.0', id, result: { action: 'accept', content: { decision: 'approve' } } });
  client.send(call(2));
  await asked(client);
  await client.end();
  expect(text(await client.answer(2))).toContain('cancelled');
  expect(client.received.filter((message) => message['id'] === 1)).toEqual([]);
});

test.each([
  ['2025-11-25', {}],
  ['2025-11-25', { elicitation: null }],
  ['2025-11-25', { elicitation: { url: {} } }],
  ['2025-11-25', { elicitation: { voice: {} } }],
  ['2025-03-26', { elicitation: {} }],
])('%s with %j is not asked, and the answer says that it waits', async (revision, capabilities) => {
  const client = connect();
  await client.initialize(revision, capabilities);
  client.send(call(1));
  const answer = text(await client.answer(1));
  expect(answer).toContain('ask: not run yet (approval_pending)');
  expect(answer).toContain('make exactly the same call again');
  expect(client.gate.seen[0]).not.toHaveProperty('asker');
  await client.end();
});

test('a client that can only open pages is sent to ours, and waits for what is said there', async () => {
  const client = connect({ approvalUrl });
  await client.initialize('2025-11-25', { elicitation: { url: {} } });
  client.send(call(1));
  const { id, params } = await asked(client);
  expect(params).toMatchObject({ mode: 'url', url: approvalUrl(), elicitationId: QUESTION.id });
  client.send({ jsonrpc: '2.0', id, result: { action: 'accept' } });
  client.send({ jsonrpc: '2.0', id: 'ping', method: 'ping' });
  await client.answer('ping');
  client.gate.answerElsewhere();
  expect(await client.take((message) => message['method'] === 'notifications/elicitation/complete')).toMatchObject({
    params: { elicitationId: QUESTION.id },
  });
  expect(text(await client.answer(1))).toContain('approved elsewhere');
  await client.end();
});

const FORM = { elicitation: {} };
const capable = (capabilities: object): object => ({ ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': capabilities });

interface Asked {
  readonly state: string;
  readonly params: Elicitation['params'];
}

/** One call of 2026-07-28 that is answered with a question. */
async function modern(client: TestClient, id: unknown, capabilities: object = FORM, more: object = {}): Promise<Asked> {
  client.send(call(id, { ...more, _meta: capable(capabilities) }));
  const { result } = (await client.answer(id)) as { result: Message };
  expect(result['resultType']).toBe('input_required');
  const { approval } = result['inputRequests'] as { approval: { method: string; params: Elicitation['params'] } };
  expect(approval.method).toBe('elicitation/create');
  return { state: result['requestState'] as string, params: approval.params };
}

function withClock(parts: Partial<ServerParts> = {}): { client: TestClient; clock: ReturnType<typeof movable> } {
  const clock = movable();
  return { client: connect({ clock, signer, ...parts }), clock };
}

test('2026-07-28: the question is the result, and the yes comes with the next call', async () => {
  const { client, clock } = withClock();
  const { state, params } = await modern(client, 1);
  expect(params).toMatchObject({ mode: 'form', requestedSchema: { required: ['decision'] } });
  clock.pass(60_000);
  const inputResponses = { approval: { action: 'accept', content: { decision: 'approve', note: 'fine' } }, other: { action: 'decline' } };
  client.send(call(2, { requestState: state, inputResponses, _meta: capable(FORM) }));
  expect(text(await client.answer(2))).toBe('echo: {"decision":"approve","note":"fine"}');
  expect(client.gate.seen[1]?.reply?.approval).toBe(QUESTION.id);
  await client.end();
});

test.each([
  ['a decline', { action: 'decline' }, 600, 'denied_by_human'],
  ['a decline at once', { action: 'decline' }, 100, 'sooner than a person'],
  ['a dismissal', { action: 'cancel' }, 600, 'dismissed'],
  ['nonsense', 5, 600, 'no answer to a form'],
])('2026-07-28: %s', async (_name, approval, ms, says) => {
  const { client, clock } = withClock();
  const { state } = await modern(client, 1);
  clock.pass(ms);
  client.send(call(2, { requestState: state, inputResponses: { approval }, _meta: capable(FORM) }));
  expect(text(await client.answer(2))).toContain(says);
  await client.end();
});

test.each([
  ['without answers', {}],
  ['with answers to nothing we asked', { inputResponses: { name: { action: 'accept' } } }],
])('2026-07-28: a call %s is asked again', async (_name, more) => {
  const { client } = withClock();
  const { state } = await modern(client, 1);
  await modern(client, 2, FORM, { requestState: state, ...more });
  await modern(client, 3, FORM, more);
  await client.end();
});

test('2026-07-28: a client that calls again and again without an answer is asked three times, and then not reached', async () => {
  const { client } = withClock();
  let { state } = await modern(client, 1);
  for (const id of [2, 3]) ({ state } = await modern(client, id, FORM, { requestState: state }));
  client.send(call(4, { requestState: state, _meta: capable(FORM) }));
  expect(text(await client.answer(4))).toContain('the client called again without an answer');
  await client.end();
});

test('2026-07-28: a word that is missing is asked for by another form, but not for ever', async () => {
  const { client } = withClock();
  let { state } = await modern(client, 1);
  const retry = (): object => ({ requestState: state, inputResponses: YES });
  client.gate.question = { ...QUESTION, card: { ...QUESTION.card, word: 'READ' } };
  for (const id of [2, 3]) {
    const again = await modern(client, id, FORM, retry());
    expect(again.params.requestedSchema['properties']).toHaveProperty('word');
    state = again.state;
  }
  client.send(call(4, { ...retry(), _meta: capable(FORM) }));
  expect(text(await client.answer(4))).toContain('the word was not typed');
  await client.end();
});

const YES = { approval: { action: 'accept', content: { decision: 'approve' } } };

test.each<[string, (state: string) => object]>([
  ['tampered with at its end', (state) => ({ requestState: `${state}-TAMPERED` })],
  ['tampered with inside', (state) => ({ requestState: state.replace(/\.(.)/, (_, char) => `.${char === 'A' ? 'B' : 'A'}`) })],
  ['made by somebody else', () => ({ requestState: `v1.${Buffer.from('{"a":"appr_1"}').toString('base64url')}.c2ln` })],
  ['empty', () => ({ requestState: '' })],
  ['without a signature', (state) => ({ requestState: state.slice(0, state.lastIndexOf('.') + 1) })],
  ['of another version', () => ({ requestState: `v2.e30.${signer.sign('v2.e30')}` })],
  ['signed, and no question', () => ({ requestState: `v1.e30.${signer.sign('v1.e30')}` })],
  ['huge', (state) => ({ requestState: state.repeat(10_000) })],
  ['of a call with other arguments', (state) => ({ requestState: state, arguments: { text: 'rm -rf' } })],
  ['of another tool', (state) => ({ requestState: state, name: 'echo' })],
])('2026-07-28: a requestState %s is an error, and the gate is told', async (_name, change) => {
  const { client } = withClock();
  const { state } = await modern(client, 1);
  client.send(call(2, { inputResponses: YES, ...change(state), _meta: capable(FORM) }));
  expect(await client.answer(2)).toMatchObject({ error: { code: -32602, message: expect.stringContaining('requestState') } });
  expect(client.gate.seen[1]?.forged).toBeTypeOf('string');
  expect(client.gate.seen[1]?.reply).toBeUndefined();
  await client.end();
});

test('2026-07-28: a requestState is good for its caller only, whatever the connection, and until the end of its question', async () => {
  const { client } = withClock();
  const { state } = await modern(client, 1);
  await client.end();
  const retry = call(2, { requestState: state, inputResponses: YES, _meta: capable(FORM) });

  const later = withClock({ scopeOf: async () => ({ owner: { ...OWNER, run: 'another' }, workspaces: [] }) });
  later.client.send(retry);
  expect(text(await later.client.answer(2))).toContain('approve');
  later.clock.pass(QUESTION.expires_at);
  later.client.send({ ...retry, id: 3 });
  expect(await later.client.answer(3)).toMatchObject({ error: { code: -32602 } });
  expect(later.client.gate.seen[1]?.forged).toBe('it has expired');
  await later.client.end();

  for (const other of [{ agent: 'mallory' }, { workspace: 'elsewhere' }, { organization: 'other' }]) {
    const foreign = withClock({ scopeOf: async () => ({ owner: { ...OWNER, ...other }, workspaces: [] }) });
    foreign.client.send(retry);
    expect(await foreign.client.answer(2)).toMatchObject({ error: { code: -32602 } });
    expect(foreign.client.gate.seen[0]?.forged).toContain('somebody else');
    await foreign.client.end();
  }
});

test.each([{ requestState: 7 }, { requestState: {} }, { inputResponses: [] }, { inputResponses: 'yes' }])(
  '2026-07-28: params %j are refused before anything is asked',
  async (more) => {
    const { client } = withClock();
    client.send(call(1, { ...more, _meta: capable(FORM) }));
    expect(await client.answer(1)).toMatchObject({ error: { code: -32602 } });
    expect(client.gate.seen).toHaveLength(0);
    await client.end();
  },
);

test('2026-07-28: a client that can only open pages is sent to ours, and calls again to wait for what is said there', async () => {
  const pages = { elicitation: { url: {} } };
  const { client, clock } = withClock({ approvalUrl });
  const { state, params } = await modern(client, 1, pages);
  expect(params).toMatchObject({ mode: 'url', url: approvalUrl() });
  const retry = { requestState: state, _meta: capable(pages) };
  client.send(call(2, { ...retry, inputResponses: { approval: { action: 'accept' } } }));
  await soon(() => expect(client.gate.seen).toHaveLength(2));
  client.gate.answerElsewhere();
  expect(text(await client.answer(2))).toContain('approved elsewhere');
  clock.pass(1_000);
  client.send(call(3, { ...retry, inputResponses: { approval: { action: 'decline' } } }));
  expect(text(await client.answer(3))).toContain('denied_by_human');
  // A client of the page can't answer a form that it was never given.
  client.send(call(4, { ...retry, inputResponses: YES }));
  await soon(() => expect(client.gate.seen).toHaveLength(4));
  expect(client.gate.seen[3]?.reply).toBeUndefined();
  client.gate.answerElsewhere();
  await client.answer(4);
  await client.end();
});

const BOTH = { elicitation: { form: {}, url: {} } };
const ALL = { ...QUESTION, card: { ...QUESTION.card, opens: [{ type: 'uncontained', why: 'sudo' }] } } as const;

test('2025-11-25: a client with both is asked in a form, but on the page for what opens everything', async () => {
  const client = connect({ approvalUrl });
  await client.initialize('2025-11-25', BOTH);
  client.send(call(1));
  const form = await asked(client);
  expect(form.params.mode).toBe('form');
  client.send({ jsonrpc: '2.0', id: form.id, result: { action: 'cancel' } });
  await client.answer(1);
  client.gate.question = ALL;
  client.send(call(2));
  const page = await asked(client);
  expect(page.params).toMatchObject({ mode: 'url', url: approvalUrl() });
  client.send({ jsonrpc: '2.0', id: page.id, result: { action: 'cancel' } });
  expect(text(await client.answer(2))).toContain('dismissed');
  await client.end();
});

test('2026-07-28: a client with both is asked in a form, but on the page for what opens everything', async () => {
  const { client } = withClock({ approvalUrl });
  expect((await modern(client, 1, BOTH)).params).toMatchObject({ mode: 'form' });
  client.gate.question = ALL;
  const { state, params } = await modern(client, 2, BOTH);
  expect(params).toMatchObject({ mode: 'url', url: approvalUrl() });
  client.send(call(3, { requestState: state, inputResponses: { approval: { action: 'accept' } }, _meta: capable(BOTH) }));
  await soon(() => expect(client.gate.seen).toHaveLength(3));
  client.gate.answerElsewhere();
  expect(text(await client.answer(3))).toContain('approved elsewhere');
  await client.end();
});

test('what opens everything is not asked in a form where there is no page', async () => {
  const { client } = withClock();
  client.gate.question = ALL;
  client.send(call(1, { _meta: capable(BOTH) }));
  expect(text(await client.answer(1))).toContain('approval_pending');
  await client.end();
});

test.each([
  ['no way to ask', {}, { signer }],
  ['pages only, and there is none', { elicitation: { url: {} } }, { signer }],
  ['no key to sign with', FORM, { signer: undefined }],
])('2026-07-28: %s', async (_name, capabilities, parts) => {
  const client = connect(parts as Partial<ServerParts>);
  client.send(call(1, { _meta: capable(capabilities) }));
  expect(text(await client.answer(1))).toContain('approval_pending');
  await client.end();
});

test.each([
  ['codex exec', 'codex-mcp-client', 'exec', undefined, false],
  ['codex with a person', 'codex-mcp-client', 'user', undefined, true],
  ['claude -p', 'claude-code', undefined, true, false],
  ['claude with a person', 'claude-code', undefined, false, true],
])('%s', async (_name, name, turn_trigger, unattended, isAsked) => {
  const scope = { owner: OWNER, workspaces: [], ...(unattended === undefined ? {} : { unattended }) };
  const { client } = withClock({ scopeOf: async () => scope });
  const clientInfo = { name, version: '1' };
  client.send(
    call(1, {
      _meta: { ...capable(FORM), 'io.modelcontextprotocol/clientInfo': clientInfo, 'x-codex-turn-metadata': { turn_trigger } },
    }),
  );
  await client.answer(1);
  expect(client.gate.seen[0]?.asker !== undefined).toBe(isAsked);
  await client.end();
});

test('notices wait for a result that can carry them', async () => {
  const { client } = withClock({ pendingNotices: async () => ['job x ended'] });
  const { state } = await modern(client, 1);
  client.send(call(2, { requestState: state, inputResponses: YES, _meta: capable(FORM) }));
  expect(text(await client.answer(2))).toContain('job x ended');
  await client.end();
});
