import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { INFO } from '../over-stdio.ts';
import { ask, until } from './client.ts';
import { serve, type TestServer } from './server.ts';

/** The official clients, as they come. */

let server: TestServer;
beforeAll(async () => {
  server = await serve();
});
afterAll(() => server.close());

test('the v1 SDK: session, calls, progress, cancel, end', async () => {
  const client = new ClientV1(INFO);
  const errors: Error[] = [];
  client.onerror = (error) => void errors.push(error);
  const transport = new HttpV1(new URL(server.url));
  await client.connect(transport);
  expect(transport.sessionId).toBeDefined();
  expect((await client.listTools()).tools).toHaveLength(server.gate.list('default').length);
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({ structuredContent: { echo: 'hi' } });

  const stop = new AbortController();
  const waiting = client.callTool({ name: 'wait', arguments: { text: 'it' } }, undefined, {
    signal: stop.signal,
    onprogress: () => stop.abort('enough'),
  });
  await expect(waiting).rejects.toThrow('enough');
  await until(() => server.gate.waiting === 0);
  expect(errors).toEqual([]);
  await transport.terminateSession();
  await client.close();
});

test.each([
  ['legacy', '2025-11-25'],
  ['auto', '2026-07-28'],
  [{ pin: '2026-07-28' }, '2026-07-28'],
] as const)('the v2 SDK, negotiation %j', async (mode, revision) => {
  const client = new ClientV2(INFO, { versionNegotiation: { mode } });
  const errors: Error[] = [];
  client.onerror = (error) => void errors.push(error);
  await client.connect(new HttpV2(new URL(server.url)));
  expect(client.getNegotiatedProtocolVersion()).toBe(revision);
  expect(await client.callTool({ name: 'echo', arguments: { text: 'hi' } })).toMatchObject({ structuredContent: { echo: 'hi' } });
  await expect(client.callTool({ name: 'nope' })).rejects.toMatchObject({ code: -32602 });

  const stop = new AbortController();
  const waiting = client.callTool(
    { name: 'wait', arguments: { text: 'it' } },
    { signal: stop.signal, onprogress: () => stop.abort('enough') },
  );
  await expect(waiting).rejects.toThrow('enough');
  await until(() => server.gate.waiting === 0);
  if (revision === '2026-07-28') await (await client.listen({ toolsListChanged: true })).close();
  expect(errors).toEqual([]);
  await client.close();
});

test.each(['legacy', 'auto'] as const)('a restart under connected clients, negotiation %s', async (mode) => {
  const first = await serve({ key: 'kept' });
  const [one, two] = [new ClientV1(INFO), new ClientV2(INFO, { versionNegotiation: { mode } })];
  await one.connect(new HttpV1(new URL(first.url)));
  await two.connect(new HttpV2(new URL(first.url)));
  const echo = { name: 'echo', arguments: { text: 'hi' } };
  for (const client of [one, two]) await client.callTool(echo);
  await first.close();

  const second = await serve({ key: 'kept', port: first.port });
  // By the time of this answer their connections to the old one are known to be closed.
  await ask(second.url, { method: 'PUT' });
  for (const client of [one, two]) expect(await client.callTool(echo)).toMatchObject({ structuredContent: { echo: 'hi' } });
  expect(second.gate.seen.map(({ client }) => client?.name)).toEqual(['interop', 'interop']);
  await Promise.all([one.close(), two.close()]);
  await second.close();
});
