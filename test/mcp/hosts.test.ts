import { expect, test } from 'vitest';
import { connect, MODERN_META } from './client.ts';

test('the gate is told who the client says it is, in both eras', async () => {
  const client = connect();
  await client.initialize('2025-06-18');
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } });
  await client.answer(1);
  client.modern(2, 'tools/call', { name: 'echo' });
  await client.answer(2);
  expect(client.gate.seen.map((request) => request.client)).toEqual([
    { name: 'test', version: '1', protocol: '2025-06-18' },
    { name: 'test', version: '1', protocol: '2026-07-28' },
  ]);
  await client.end();
});

test('a host whose model would get structured content as JSON gets neither it nor the schema for it', async () => {
  const client = connect();
  const clientInfo = { name: 'claude-code', version: '2' };
  const _meta = { ...MODERN_META, 'io.modelcontextprotocol/clientInfo': clientInfo };
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta } });
  expect(JSON.stringify(await client.answer(1))).not.toContain('outputSchema');
  client.send({
    jsonrpc: '2.0',
    id: 2,
    method: 'tools/call',
    params: { name: 'echo', arguments: { text: 'hi', notes: ['a note'] }, _meta },
  });
  const { result } = (await client.answer(2)) as { result: object };
  expect(result).not.toHaveProperty('structuredContent');
  expect(result).toHaveProperty('content', [
    { type: 'text', text: 'echo: hi' },
    { type: 'text', text: 'a note' },
  ]);
  await client.end();
});

test.each([
  ['2025-11-25', true],
  ['2025-06-18', true],
  ['2025-03-26', false],
] as const)('%s: tools ask to be shown from the start: %s', async (revision, asked) => {
  const client = connect();
  await client.initialize(revision);
  client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const { result } = (await client.answer(1)) as { result: { tools: { _meta?: unknown }[] } };
  const meta = asked ? { 'anthropic/alwaysLoad': true } : undefined;
  expect(result.tools.map((tool) => tool._meta)).toEqual(result.tools.map(() => meta));
  await client.end();
});

test('resources that cannot be listed are none, so that no host gives up the tools for them', async () => {
  const client = connect({ resources: { list: () => Promise.reject(new Error('the disk is gone')), read: async () => undefined } });
  await client.initialize('2025-11-25');
  client.send({ jsonrpc: '2.0', id: 1, method: 'resources/list' });
  expect(await client.answer(1)).toMatchObject({ result: { resources: [] } });
  expect(client.logged.join()).toContain('the disk is gone');
  await client.end();
});
