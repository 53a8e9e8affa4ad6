import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from '@modelcontextprotocol/client';
import { StdioClientTransport as StdioV2 } from '@modelcontextprotocol/client/stdio';
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callTool, type HttpAnswer, makeToken, startUp, type UpProcess } from '../helpers/up-process.ts';
import { type Place, runWrit, WRIT } from '../helpers/writ-process.ts';
import { CHROMIUM, everythingOverHttp, peers } from './peers.ts';
import { fixture, gatewayPlace, httpFixture } from './place.ts';

/** What real servers say and do arrives as it left, at the official clients of both eras, over stdio and HTTP (one `writ up`, to which `writ mcp` passes on). */

const INFO = { name: 'fidelity', version: '1' };
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const SAMPLED = { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } } as const;
const NAMED = { action: 'accept', content: { name: 'Ann' } } as const;

/** What both generations of the SDK have in common here. */
type Client = Pick<
  ClientV1,
  | 'listTools'
  | 'callTool'
  | 'listResources'
  | 'listResourceTemplates'
  | 'readResource'
  | 'listPrompts'
  | 'getPrompt'
  | 'complete'
  | 'getInstructions'
  | 'close'
>;
type Block = { readonly type: string; readonly text?: string; readonly uri?: string };
interface Connected {
  readonly client: Client;
  readonly asked: string[];
}

let place: Place;
let up: UpProcess;
let token: string;
let remote: Awaited<ReturnType<typeof httpFixture>>;
let session: Awaited<ReturnType<typeof everythingOverHttp>>;
const clients = new Map<string, Connected>();

function v1(): { client: ClientV1; asked: string[] } {
  const client = new ClientV1(INFO, { capabilities });
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return NAMED;
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => {
    asked.push('sampling');
    return SAMPLED;
  });
  return { client, asked };
}

function v2(): { client: ClientV2; asked: string[] } {
  const client = new ClientV2(INFO, { capabilities, versionNegotiation: { mode: 'auto' } });
  const asked: string[] = [];
  client.setRequestHandler('elicitation/create', ({ params }) => {
    asked.push(params.message);
    return NAMED;
  });
  client.setRequestHandler('sampling/createMessage', () => {
    asked.push('sampling');
    return SAMPLED;
  });
  return { client, asked };
}

const SURFACES = ['2025-11-25 over stdio', '2026-07-28 over stdio', '2025-11-25 over HTTP', '2026-07-28 over HTTP'] as const;

beforeAll(async () => {
  [remote, session] = await Promise.all([httpFixture(), everythingOverHttp()]);
  place = gatewayPlace((at) => ({
    ...peers(at),
    // Ours, for what none of them does.
    older: fixture(at, 'gateway-server.mjs', ['--era', 'older'], { low_impact: true }),
    remote: { type: 'http', url: remote.url, low_impact: true, max_result_chars: 1_000_000 },
    session: { type: 'http', url: session.url, low_impact: true },
  }));
  const added = await runWrit(place, ['workspace', 'add', 'work', place.workspace]);
  if (added.code !== 0) throw new Error(added.stderr);
  token = await makeToken(place, 'tester', ['-w', 'work']);
  up = await startUp(place);
  const [command = '', ...args] = WRIT;
  const stdio = {
    command,
    args: [...args, 'mcp', '--root', place.workspace],
    env: place.env,
    cwd: place.workspace,
    stderr: 'ignore',
  } as const;
  const url = new URL(`${up.url}/mcp`);
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const [first, second, third, fourth] = [v1(), v2(), v1(), v2()];
  await Promise.all([
    first.client.connect(new StdioV1({ ...stdio, args: [...stdio.args] })),
    second.client.connect(new StdioV2({ ...stdio, args: [...stdio.args] })),
    third.client.connect(new HttpV1(url, { requestInit }) as never),
    fourth.client.connect(new HttpV2(url, { requestInit })),
  ]);
  expect(second.client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  expect(fourth.client.getNegotiatedProtocolVersion()).toBe('2026-07-28');
  for (const [index, { client, asked }] of [first, second, third, fourth].entries())
    clients.set(SURFACES[index] ?? '', { client: client as unknown as Client, asked });
  const { client } = at(SURFACES[2]);
  for (
    let names: string[] = [];
    ![...Object.keys(peers(place)), 'older', 'remote', 'session'].every((server) => names.some((name) => name.startsWith(`${server}__`)));
  )
    names = (await client.listTools()).tools.map(({ name }) => name);
}, 120_000);

afterAll(async () => {
  await Promise.all([...clients.values()].map(({ client }) => client.close()));
  await up.end();
  remote.end();
  session.end();
  place.remove();
});

function at(surface: string): Connected {
  const found = clients.get(surface);
  if (found === undefined) throw new Error(`no client ${surface}`);
  return found;
}

async function call(
  client: Client,
  name: string,
  args: Record<string, unknown> = {},
): Promise<{ content: Block[]; structuredContent?: unknown; isError?: boolean }> {
  return (await client.callTool({ name, arguments: args })) as never;
}
const text = ({ content }: { content: Block[] }): string => content.map((block) => block.text ?? '').join('\n');

describe.each(SURFACES)('server-everything, %s', (surface) => {
  test('its tools, with all that they say of themselves', async () => {
    const { tools } = await at(surface).client.listTools();
    const own = tools.filter(({ name }) => name.startsWith('everything__'));
    expect(own.length).toBeGreaterThanOrEqual(16);
    const weather = own.find(({ name }) => name === 'everything__get-structured-content');
    expect(weather?.outputSchema).toMatchObject({ type: 'object', required: expect.arrayContaining(['temperature']) });
    expect(weather?.title ?? weather?.annotations?.title).toContain('Structured');
  });

  test('resources, templates, prompts, completion, and a link that a tool returned', async () => {
    const { client } = at(surface);
    expect((await client.listResources()).resources.length).toBeGreaterThanOrEqual(7);
    expect((await client.listResourceTemplates()).resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(
      expect.arrayContaining([expect.stringContaining('demo://resource/dynamic/text/')]),
    );
    const { prompts } = await client.listPrompts();
    expect(prompts.map(({ name }) => name)).toContain('everything__args-prompt');
    const prompt = await client.getPrompt({ name: 'everything__args-prompt', arguments: { city: 'Paris' } });
    expect(JSON.stringify(prompt.messages)).toContain('Paris');
    const link = (await call(client, 'everything__get-resource-links', { count: 2 })).content.find(({ type }) => type === 'resource_link');
    const { contents } = await client.readResource({ uri: link?.uri ?? '' });
    expect(contents[0]?.uri).toBe(link?.uri);
    const ref = { type: 'ref/prompt', name: 'everything__completable-prompt' } as const;
    expect((await client.complete({ ref, argument: { name: 'department', value: 'E' } })).completion.values).toContain('Engineering');
  });

  test('texts of every kind and size, structured content, progress, an unknown tool', async () => {
    const { client } = at(surface);
    const big = 'x'.repeat(900_000);
    expect(text(await call(client, 'everything__echo', { message: big }))).toContain(big);
    const odd = '😀漢字\u2028é'.repeat(1_500);
    expect(text(await call(client, 'everything__echo', { message: odd }))).toContain(odd);
    const place_ = { location: 'New York' };
    expect((await call(client, 'everything__get-structured-content', place_)).structuredContent).toMatchObject({
      temperature: expect.any(Number),
    });
    // Apart from each other: what comes in one piece with the answer is passed over by the SDK.
    const steps: number[] = [];
    const onprogress = ({ progress }: { progress: number }): void => void steps.push(progress);
    const long = { name: 'everything__trigger-long-running-operation', arguments: { duration: 1, steps: 4 } };
    // The place of the options is another one in each generation of the SDK.
    if (surface.startsWith('2025')) await client.callTool(long, undefined, { onprogress });
    else await (client as unknown as ClientV2).callTool(long, { onprogress });
    expect(steps.length).toBeGreaterThanOrEqual(3);
    const unknown = await call(client, 'everything__nope').catch((thrown: Error) => ({
      content: [{ type: 'text', text: thrown.message }],
    }));
    expect(text(unknown)).toContain('There is no tool named');
  });

  test('its questions reach this client, and nobody else', async () => {
    const { client, asked } = at(surface);
    asked.length = 0;
    expect(text(await call(client, 'everything__trigger-elicitation-request'))).toContain('Ann');
    expect(text(await call(client, 'everything__trigger-sampling-request', { prompt: 'hi' }))).toContain('sampled');
    expect(asked).toEqual([expect.stringContaining('The MCP server "everything" asks'), 'sampling']);
    expect(text(await call(client, 'everything__get-roots-list'))).toContain('files');
  });

  test('forty calls at once, forty right answers', async () => {
    const { client } = at(surface);
    const answers = await Promise.all(Array.from({ length: 40 }, (_, n) => call(client, 'everything__get-sum', { a: n, b: 1_000 })));
    for (const [n, answer] of answers.entries()) expect(text(answer)).toContain(String(1_000 + n));
  });
});

test.each(SURFACES)('a server of 2026-07-28 over HTTP asks, tells progress and answers at length, %s', async (surface) => {
  const { client, asked } = at(surface);
  asked.length = 0;
  expect(text(await call(client, 'remote__elicit', { times: 2 }))).toContain('Ann');
  expect(text(await call(client, 'remote__sample'))).toContain('sampled');
  expect(asked).toHaveLength(3);
  expect(text(await call(client, 'remote__big', { chars: 500_000 }))).toContain('漢'.repeat(500_000));
});

test.each(SURFACES)('server-everything over HTTP, in a session of its own, %s', async (surface) => {
  const { client, asked } = at(surface);
  asked.length = 0;
  expect(text(await call(client, 'session__echo', { message: '漢字😀' }))).toContain('漢字😀');
  expect(text(await call(client, 'session__trigger-elicitation-request'))).toContain('Ann');
  expect(text(await call(client, 'session__trigger-sampling-request', { prompt: 'hi' }))).toContain('sampled');
  expect(asked).toHaveLength(2);
});

test.each(['older', 'remote'])(
  '%s: a changed list is told over HTTP, on the stream of a session and on one that was asked for',
  async (server) => {
    const heard: string[] = [];
    const told = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const first = new ClientV1(INFO);
    first.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      heard.push('session');
      told[0].resolve();
    });
    const onChanged = (): void => {
      heard.push('listen');
      told[1].resolve();
    };
    const second = new ClientV2(INFO, {
      versionNegotiation: { mode: 'auto' },
      listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged } },
    });
    const url = new URL(`${up.url}/mcp`);
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    await first.connect(new HttpV1(url, { requestInit }) as never);
    await second.connect(new HttpV2(url, { requestInit }));
    // Each opens its stream in its own time: changes come until both have heard of one.
    let both = false;
    void Promise.all(told.map(({ promise }) => promise)).then(() => {
      both = true;
    });
    while (!both) {
      const names = async (): Promise<string[]> => (await first.listTools()).tools.map(({ name }) => name);
      const before = (await names()).includes(`${server}__another`);
      await call(first as unknown as Client, `${server}__rename`);
      while ((await names()).includes(`${server}__another`) === before);
    }
    expect(heard).toEqual(expect.arrayContaining(['session', 'listen']));
    await Promise.all([first.close(), second.close()]);
  },
);

test('arguments that a tool wants in headers are in those of the client, and in those that its server gets', async () => {
  const { client } = at(SURFACES[3]);
  const { tools } = await client.listTools();
  expect(tools.find(({ name }) => name === 'remote__route')?.inputSchema.properties).toHaveProperty(['region', 'x-mcp-header'], 'Region');
  const args = { region: 'zürich', deep: { n: -7 } };
  const wanted = { 'mcp-param-region': '=?base64?esO8cmljaA==?=', 'mcp-param-deep-n': '-7' };
  const [first = ''] = text(await call(client, 'remote__route', args)).split('\n');
  expect(JSON.parse(first)).toEqual(wanted);
  const direct = (name: string, headers: Readonly<Record<string, string>>): Promise<HttpAnswer> =>
    callTool(`${up.url}/mcp`, token, name, args, headers);
  expect((await direct('remote__route', { ...wanted, 'mcp-param-deep-n': '-7.0' })).status).toBe(200);
  for (const [name, headers] of [
    ['remote__route', {}],
    ['remote__route', { ...wanted, 'mcp-param-region': 'berlin' }],
    ['mcp__remote__route', { 'mcp-param-region': wanted['mcp-param-region'] }],
  ] as const) {
    const { status, text: said } = await direct(name, headers);
    expect([status, JSON.parse(said).error.code]).toEqual([400, -32020]);
  }
  // Without HTTP there are no headers, and nothing to be wrong with them.
  expect(text(await call(at(SURFACES[1]).client, 'remote__route', args))).toContain('mcp-param-region');
});

test('the instructions of a server come with its name', async () => {
  const mcp = at(SURFACES[0]).client.getInstructions() ?? '';
  const later = new ClientV1(INFO);
  await later.connect(new HttpV1(new URL(`${up.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }) as never);
  expect(`${mcp}${later.getInstructions() ?? ''}`).toContain('What the MCP server "everything" (tools everything__*) says of itself:');
  await later.close();
});

test('server-filesystem: every tool of it', async () => {
  const { client } = at(SURFACES[3]);
  const files = join(place.workspace, 'files');
  const path = (name: string): string => join(files, name);
  const calls: [string, Record<string, unknown>, string | RegExp][] = [
    ['list_allowed_directories', {}, files],
    ['read_file', { path: path('a.txt') }, 'one\ntwo'],
    ['read_text_file', { path: path('a.txt'), head: 1 }, 'one'],
    ['read_multiple_files', { paths: [path('a.txt')] }, 'three'],
    ['write_file', { path: path('b.txt'), content: 'bee\n' }, 'b.txt'],
    ['edit_file', { path: path('b.txt'), edits: [{ oldText: 'bee', newText: 'wasp' }] }, 'wasp'],
    ['create_directory', { path: path('sub') }, 'sub'],
    ['move_file', { source: path('b.txt'), destination: path('sub/c.txt') }, 'c.txt'],
    ['list_directory', { path: files }, '[DIR] sub'],
    ['list_directory_with_sizes', { path: files }, 'a.txt'],
    ['directory_tree', { path: files }, '"children"'],
    ['search_files', { path: files, pattern: '**/c.txt' }, 'c.txt'],
    ['get_file_info', { path: path('a.txt') }, 'size'],
  ];
  for (const [tool, args, expected] of calls) expect(text(await call(client, `filesystem__${tool}`, args)), tool).toMatch(expected);
  const media = await call(client, 'filesystem__read_media_file', { path: path('pixel.png') });
  expect(media.content[0]).toMatchObject({
    type: 'image',
    mimeType: 'image/png',
    data: readFileSync(path('pixel.png')).toString('base64'),
  });
  expect(readFileSync(path('sub/c.txt'), 'utf8')).toBe('wasp\n');
  const outside = await call(client, 'filesystem__read_file', { path: '/etc/hostname' });
  expect(outside.isError).toBe(true);
  const { tools } = await client.listTools();
  expect(tools.filter(({ name }) => name.startsWith('filesystem__'))).toHaveLength(calls.length + 1);
});

test('server-memory and sequential-thinking', async () => {
  const { client } = at(SURFACES[1]);
  await call(client, 'memory__create_entities', { entities: [{ name: 'Ann', entityType: 'person', observations: ['likes tea'] }] });
  expect(text(await call(client, 'memory__search_nodes', { query: 'tea' }))).toContain('Ann');
  expect(text(await call(client, 'memory__read_graph'))).toContain('likes tea');
  const thought = { thought: 'first', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 };
  expect((await call(client, 'thinking__sequentialthinking', thought)).structuredContent).toMatchObject({ thoughtNumber: 1 });
});

test('dbhub and context7, which speak 2026-07-28 themselves, from a client that does not', async () => {
  const { client } = at(SURFACES[0]);
  expect(text(await call(client, 'dbhub__execute_sql', { sql: 'SELECT 40 + 2 AS answer' }))).toContain('42');
  // There is no network here: its answer says so, and is passed on as what it is.
  const answer = await call(client, 'context7__resolve-library-id', { libraryName: 'react', query: 'hooks' });
  expect(text(answer)).toContain('came from the MCP server "context7"');
});

test.runIf(existsSync(CHROMIUM))('@playwright/mcp drives a Chromium inside the sandbox', async () => {
  const { client } = at(SURFACES[2]);
  const opened = await call(client, 'playwright__browser_navigate', { url: 'data:text/html,<title>T</title><h1>Hello from the page</h1>' });
  expect(text(opened)).not.toContain('rror');
  expect(text(await call(client, 'playwright__browser_snapshot'))).toContain('Hello from the page');
  const shot = await call(client, 'playwright__browser_take_screenshot');
  expect(shot.content.some(({ type }) => type === 'image')).toBe(true);
  await call(client, 'playwright__browser_close');
});
