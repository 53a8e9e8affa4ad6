import { createHmac } from 'node:crypto';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Signer } from '../../../src/mcp/types.ts';
import { MODERN_META } from '../client.ts';
import { type Message, member, modern, open, until } from './client.ts';
import { serve, type TestServer } from './server.ts';

/** A person is asked on the stream of the very call, and only who was asked can answer. */

const signer: Signer = {
  sign: (text) => createHmac('sha256', 'key').update(text).digest('base64url'),
  verify: (text, signature) => signer.sign(text) === signature,
};
const YES = { action: 'accept', content: { decision: 'approve' } } as const;
let server: TestServer;
beforeAll(async () => {
  server = await serve({ parts: { signer } });
});
afterAll(() => server.close());

test('2025-11-25: the form goes out on its own call, and only its own session can answer', async () => {
  const session = await open(server.url, '2025-11-25', { elicitation: {} }, 'alice');
  const other = await open(server.url, '2025-11-25', { elicitation: {} }, 'alice');
  const mallory = await open(server.url, '2025-11-25', { elicitation: {} }, 'mallory');
  const asked: Message[] = [];
  const elsewhere: Message[] = [];
  const call = session.call(1, 'ask', {}, { onEvent: (event) => void asked.push(event) });
  const waiting = session.call(2, 'wait', { text: 'x' }, { onEvent: (event) => void elsewhere.push(event) });
  await until(() => asked.some(({ method }) => method === 'elicitation/create') && server.gate.waiting > 0);
  const { id } = asked.find(({ method }) => method === 'elicitation/create') ?? {};
  for (const stranger of [other, mallory]) await stranger.send({ jsonrpc: '2.0', id, result: YES });
  await until(() => server.logged.filter((line) => line.includes('nothing that was asked')).length === 2);
  await session.send({ jsonrpc: '2.0', id, result: YES });
  expect(JSON.stringify(member(await call, 'result'))).toContain('approve');
  server.gate.release();
  await waiting;
  expect(JSON.stringify(elsewhere)).not.toContain('elicitation/create');
});

test('2026-07-28: the question is the answer of the call; the state of one agent is no good to another', async () => {
  const params = {
    name: 'ask',
    arguments: {},
    _meta: { ...MODERN_META, 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } },
  };
  const as = (authorization: string): { headers: Record<string, string> } => ({ headers: { authorization } });
  const question = await modern(server.url, 1, 'tools/call', params, as('alice'));
  expect(member(question, 'result', 'resultType')).toBe('input_required');
  const retry = { ...params, requestState: member(question, 'result', 'requestState'), inputResponses: { approval: YES } };
  expect(member(await modern(server.url, 2, 'tools/call', retry, as('mallory')), 'error', 'code')).toBe(-32602);
  expect(JSON.stringify(member(await modern(server.url, 3, 'tools/call', retry, as('alice')), 'result'))).toContain('approve');
});

const info = { name: 'interop', version: '1.0.0' };
const capabilities = { elicitation: { form: {} } };

test('the v1 SDK', async () => {
  const client = new ClientV1(info, { capabilities });
  client.setRequestHandler(ElicitRequestSchema, () => YES);
  // The SDK's own types don't agree with themselves under exactOptionalPropertyTypes.
  await client.connect(new HttpV1(new URL(server.url)) as unknown as Parameters<ClientV1['connect']>[0]);
  expect(JSON.stringify(await client.callTool({ name: 'ask', arguments: {} }))).toContain('approve');
  await client.close();
});

test.each(['legacy', 'auto'] as const)('the v2 SDK, negotiation %s', async (mode) => {
  const client = new ClientV2(info, { capabilities, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', () => YES);
  await client.connect(new HttpV2(new URL(server.url)));
  expect(client.getNegotiatedProtocolVersion()).toBe(mode === 'auto' ? '2026-07-28' : '2025-11-25');
  expect(JSON.stringify(await client.callTool({ name: 'ask', arguments: {} }))).toContain('approve');
  await client.close();
});
