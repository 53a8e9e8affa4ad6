import { Client as ClientV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, test } from 'vitest';
import { fixtureServer, INFO } from './over-stdio.ts';

const server = fixtureServer();

test('the v1 SDK: handshake, roots, listing, output validation, refusals, progress, cancel, resources', async () => {
  const client = new ClientV1(INFO, { capabilities: { roots: { listChanged: true } } });
  const errors: Error[] = [];
  client.onerror = (error) => void errors.push(error);
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: 'file:///somewhere' }] }));
  await client.connect(new StdioV1(server));
  expect(client.getInstructions()).toBe('Use shell.');
  expect(client.getServerCapabilities()).toEqual({ tools: {}, resources: {} });

  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'echo')?.outputSchema).toHaveProperty('properties.notices');
  // The client validates structuredContent against that schema, which allows no members that it doesn't name.
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi', notes: ['a note'] } })).toEqual({
    content: [
      { type: 'text', text: 'echo: hi' },
      { type: 'text', text: 'a note' },
      { type: 'text', text: '2025-11-25 interop /somewhere' },
    ],
    structuredContent: { echo: 'hi', notices: ['a note', '2025-11-25 interop /somewhere'] },
    isError: false,
  });
  expect(await client.callTool({ name: 'refuse', arguments: { text: 'no_channel' } })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });

  const stop = new AbortController();
  const progress: unknown[] = [];
  const waiting = client.callTool({ name: 'wait', arguments: { text: 'it' } }, undefined, {
    signal: stop.signal,
    onprogress: (each) => {
      progress.push(each);
      stop.abort('enough');
    },
  });
  await expect(waiting).rejects.toThrow('enough');
  expect(progress).toEqual([{ progress: 1, message: 'waiting for it' }]);

  const { resources } = await client.listResources();
  expect((await client.readResource({ uri: resources[0]?.uri ?? '' })).contents).toMatchObject([{ text: 'all of it' }]);
  await expect(client.readResource({ uri: 'writ://output/none' })).rejects.toMatchObject({ code: -32002 });
  await expect(client.listPrompts()).rejects.toMatchObject({ code: -32601 });
  await client.close();
  expect(errors).toEqual([]);
});

test.each([
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
] as const)('the v2 SDK, negotiation %j', async (mode, revision) => {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  const errors: Error[] = [];
  client.onerror = (error) => void errors.push(error);
  await client.connect(new StdioV2(server));
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  expect(client.getInstructions()).toBe('Use shell.');
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['broken', 'echo', 'huge', 'refuse', 'throw', 'wait']);
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({
    structuredContent: { echo: 'hi', notices: [`${revision} interop `] },
  });
  expect(await client.callTool({ name: 'refuse', arguments: { text: 'denied_by_policy' } })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });

  const stop = new AbortController();
  const progress: unknown[] = [];
  const waiting = client.callTool(
    { name: 'wait', arguments: { text: 'it' } },
    {
      signal: stop.signal,
      onprogress: (each) => {
        progress.push(each);
        stop.abort('enough');
      },
    },
  );
  await expect(waiting).rejects.toThrow('enough');
  expect(progress).toMatchObject([{ progress: 1, message: 'waiting for it' }]);

  const { resources } = await client.listResources();
  expect((await client.readResource({ uri: resources[0]?.uri ?? '' })).contents).toMatchObject([{ text: 'all of it' }]);
  if (revision === '2026-07-28') {
    const subscription = await client.listen({ toolsListChanged: true });
    await subscription.close();
  }
  await client.close();
  expect(errors).toEqual([]);
});
