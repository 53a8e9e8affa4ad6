import { expect, test } from 'vitest';
import { silentLogger } from '../../kernel/logger.ts';
import { type Behaviour, type FakeServer, fakeServer, olderServer } from '../testing.ts';
import { openClient, type UpstreamClient } from './client.ts';
import { METHOD_UNKNOWN } from './exchange.ts';
import { createStdioCarrier } from './stdio-carrier.ts';

const open = (server: FakeServer, more: object = {}): Promise<UpstreamClient> =>
  openClient({
    carrier: createStdioCarrier(server, 1024 * 1024),
    served: { request: async () => METHOD_UNKNOWN, notification() {} },
    logger: silentLogger,
    version: '1.2.3',
    timeout_ms: 20_000,
    signal: new AbortController().signal,
    ...more,
  });

const newer: Behaviour = ({ id, method, params }, server) => {
  const result = (value: object): void => server.say({ jsonrpc: '2.0', id, result: value });
  if (method === 'server/discover') {
    result({
      supportedVersions: ['2026-07-28'],
      capabilities: { tools: {} },
      instructions: 'Be kind.',
      _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'new', version: '2' } },
    });
  } else result({ echo: params });
};

test('one of 2026-07-28 is found by asking, and every request says who asks', async () => {
  const server = fakeServer(newer);
  const client = await open(server);
  expect(client).toMatchObject({
    era: 'stateless',
    identity: { name: 'new', version: '2', protocol: '2026-07-28' },
    instructions: 'Be kind.',
  });
  await client.request('tools/call', { name: 'x', _meta: { kept: 1 } }, { timeout_ms: 1_000 });
  expect(server.heard.at(-1)).toMatchObject({
    params: {
      name: 'x',
      _meta: {
        kept: 1,
        'io.modelcontextprotocol/protocolVersion': '2026-07-28',
        'io.modelcontextprotocol/clientInfo': { name: 'writ', version: '1.2.3' },
      },
    },
  });
  expect(server.heard.some(({ method }) => method === 'initialize')).toBe(false);
});

test('an older one refuses the new question and gets the handshake', async () => {
  const server = olderServer([]);
  const client = await open(server);
  expect(client).toMatchObject({ era: 'handshake', identity: { name: 'fake', version: '1', protocol: '2025-11-25' } });
  expect(server.heard.map(({ method }) => method)).toEqual(['server/discover', 'initialize', 'notifications/initialized']);
});

test.each([
  [['2026-07-28'], ['server/discover', 'server/discover'], 'stateless'],
  [['2025-11-25'], ['server/discover', 'initialize', 'notifications/initialized'], 'handshake'],
] as const)('one that would have taken %j says so, and is believed once', async (supported, heard, era) => {
  const behave: Behaviour = (message, fake) => {
    const { id, method } = message;
    const first = fake.heard.length === 1;
    const error = { code: -32022, message: 'Unsupported protocol version', data: { supported } };
    if (method === 'server/discover' && first) fake.say({ jsonrpc: '2.0', id, error });
    else if (method === 'initialize')
      fake.say({
        jsonrpc: '2.0',
        id,
        result: { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'x', version: '1' } },
      });
    else newer(message, fake);
  };
  const asked = fakeServer(behave);
  expect(await open(asked)).toMatchObject({ era });
  expect(asked.heard.map(({ method }) => method)).toEqual(heard);
});

test('what it spoke before is not asked again', async () => {
  const server = olderServer([]);
  await open(server, { era: 'handshake' });
  await expect.poll(() => server.heard.map(({ method }) => method)).toEqual(['initialize', 'notifications/initialized']);
});

test('one that answers nothing is given up, and closed', async () => {
  const server = fakeServer(() => {});
  await expect(open(server, { era: 'handshake', timeout_ms: 20 })).rejects.toMatchObject({ code: 'upstream_timeout' });
  expect(await server.ended).toBe('it was closed');
});

test.each(['1999-01-01', 7, undefined])('the revision %j is refused', async (protocolVersion) => {
  const server = fakeServer(({ id, method }, self) => {
    if (method === 'initialize') self.say({ jsonrpc: '2.0', id, result: { protocolVersion, capabilities: {} } });
  });
  await expect(open(server, { era: 'handshake' })).rejects.toMatchObject({ code: 'upstream_error' });
});

test('all pages of a list are read', async () => {
  const server = pages((cursor) => ({ tools: [{ name: `t${cursor}` }], ...(cursor < 3 ? { nextCursor: String(cursor + 1) } : {}) }));
  const client = await open(server);
  expect(await client.list('tools/list', 'tools', { timeout_ms: 1_000 })).toEqual([
    { name: 't0' },
    { name: 't1' },
    { name: 't2' },
    { name: 't3' },
  ]);
});

test.each([
  ['a cursor that comes again', () => ({ tools: [], nextCursor: 'same' }), 'circles'],
  ['pages without end', (cursor: number) => ({ tools: [], nextCursor: String(cursor + 1) }), 'pages'],
  ['a list without end', (cursor: number) => ({ tools: Array(5_001).fill({}), nextCursor: String(cursor + 1) }), 'more than'],
  ['no list', () => ({ tools: 'many' }), 'no list'],
])('%s is an error and no half list', async (_, answer, said) => {
  const client = await open(pages(answer));
  await expect(client.list('tools/list', 'tools', { timeout_ms: 30_000 })).rejects.toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining(said),
  });
});

function pages(answer: (cursor: number) => object): FakeServer {
  return fakeServer(({ id, method, params }, self) => {
    if (method !== 'tools/list') return newer({ id, method, params }, self);
    const { cursor } = params as { cursor?: string };
    self.say({ jsonrpc: '2.0', id, result: answer(cursor === undefined || cursor === 'same' ? 0 : Number(cursor)) });
  });
}
