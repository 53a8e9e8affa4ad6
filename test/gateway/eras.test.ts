import { afterAll, beforeAll, expect, test } from 'vitest';
import { type McpProcess, type Place, startMcp } from '../helpers/writ-process.ts';
import { fixture, gatewayPlace, listed, META, modern, said } from './place.ts';

/** Every pairing of a client's era with an upstream's, through one `writ mcp`: a connection over stdio may speak both. */

type Message = Record<string, unknown>;
const asking = { elicitation: { form: {}, url: {} }, sampling: {} };
const NAME = { action: 'accept', content: { name: 'Ann' } };
const MODEL = { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } };
let place: Place;
let mcp: McpProcess;
const notes: { method: string; params: Message }[] = [];
const waiting = new Set<() => void>();
const questions: string[] = [];
const answerTo = (method: string): unknown => (method === 'sampling/createMessage' ? MODEL : NAME);

beforeAll(async () => {
  place = gatewayPlace((at) => ({
    older: fixture(at, 'gateway-server.mjs', ['--era', 'older'], { low_impact: true }),
    modern: fixture(at, 'gateway-server.mjs', ['--era', 'modern'], { low_impact: true }),
  }));
  mcp = await startMcp(place, {
    capabilities: asking,
    onRequest(method, params) {
      questions.push(`${method} ${String(params['message'] ?? '')}`);
      return answerTo(method);
    },
    onNotification(method, params) {
      notes.push({ method, params });
      for (const wake of [...waiting]) wake();
      waiting.clear();
    },
  });
  await listed(mcp, 'older__elicit', 'modern__elicit');
});
afterAll(async () => {
  await mcp.end();
  place.remove();
});

/** The first notification that fits, taken away. */
async function noted(method: string, fits: (params: Message) => boolean = () => true): Promise<Message> {
  for (;;) {
    const at = notes.findIndex((note) => note.method === method && fits(note.params));
    if (at >= 0) return notes.splice(at, 1)[0]?.params ?? {};
    await new Promise<void>((resolve) => {
      waiting.add(resolve);
    });
  }
}

const call = (name: string, args: object = {}, more: object = {}): Promise<Message> =>
  mcp.ask('tools/call', { name, arguments: args, ...more });
const callModern = (name: string, args: object = {}, more: object = {}): Promise<Message> =>
  call(name, args, { ...modern(asking), ...more });
const runs = async (server: string): Promise<number> => JSON.parse(said(await call(`${server}__runs`))).runs;

test.each(['older', 'modern'])('a handshake client is asked while its call to a server of the %s era waits', async (server) => {
  const before = await runs(server);
  questions.length = 0;
  expect(JSON.parse(said(await call(`${server}__elicit`, { times: 2 }))).at(-1)).toEqual(NAME);
  expect(said(await call(`${server}__sample`))).toContain('sampled');
  expect(JSON.parse(said(await call(`${server}__both`)))).toEqual([NAME, NAME]);
  expect(questions.filter((each) => each.startsWith('elicitation/create The MCP server'))).toHaveLength(4);
  expect(questions[0]).toContain(`"${server}" asks (this is not a question of Writ)`);
  expect(await runs(server)).toBe(before + 1);
});

test.each(['older', 'modern'])(
  'a client of 2026-07-28 is asked with the answer, and the call to a server of the %s era runs once',
  async (server) => {
    const before = await runs(server);
    let round: Message = await callModern(`${server}__elicit`, { times: 2 });
    for (let time = 1; time <= 2; time++) {
      expect(round).toMatchObject({ resultType: 'input_required', requestState: expect.stringMatching(/^held\./) });
      const [[key, question]] = Object.entries(round['inputRequests'] as Record<string, Message>) as [[string, Message]];
      expect(question).toMatchObject({ method: 'elicitation/create', params: { message: expect.stringContaining(`Name ${time}?`) } });
      const again = { inputResponses: { [key]: NAME }, requestState: round['requestState'] };
      round = await callModern(`${server}__elicit`, { times: 2 }, again);
      // A state is good once.
      await expect(callModern(`${server}__elicit`, { times: 2 }, again)).rejects.toThrow('requestState');
    }
    expect(round).toMatchObject({ resultType: 'complete' });
    expect(JSON.parse(said(round)).at(-1)).toEqual(NAME);
    expect(await runs(server)).toBe(before + 1);
  },
);

test('a held call goes on only for the same caller with the same arguments, and a state nobody gave out is none', async () => {
  const { requestState, inputRequests } = await callModern('older__elicit', { times: 1 });
  const [key = ''] = Object.keys(inputRequests as object);
  const brings = { inputResponses: { [key]: NAME }, requestState };
  await expect(callModern('older__elicit', { times: 2 }, brings)).rejects.toThrow('requestState');
  await expect(callModern('older__sample', { times: 1 }, brings)).rejects.toThrow('requestState');
  await expect(callModern('older__elicit', { times: 1 }, { ...brings, requestState: `${String(requestState)}x` })).rejects.toThrow(
    'requestState',
  );
  await expect(callModern('older__elicit', { times: 1 }, { requestState: 'held.' })).rejects.toThrow('requestState');
  expect(said(await callModern('older__elicit', { times: 1 }, brings))).toContain('Ann');
});

test('what is not answered is asked again, three times; then the server hears that nobody answered', async () => {
  let round = await callModern('older__elicit');
  for (let time = 0; time < 2; time++) {
    round = await callModern('older__elicit', {}, { requestState: round['requestState'] });
    expect(round['resultType']).toBe('input_required');
  }
  expect(said(await callModern('older__elicit', {}, { requestState: round['requestState'] }))).toContain('without an answer');
});

test('two questions at once are given together or one after the other, and each gets its own answer', async () => {
  let round = await callModern('older__both');
  const messages: string[] = [];
  while (round['resultType'] === 'input_required') {
    const responses = Object.entries(round['inputRequests'] as Record<string, { params: { message: string } }>).map(([key, { params }]) => {
      messages.push(params.message);
      return [key, { action: 'accept', content: { name: params.message.includes('First') ? 'one' : 'two' } }];
    });
    round = await callModern('older__both', {}, { inputResponses: Object.fromEntries(responses), requestState: round['requestState'] });
  }
  expect(messages).toHaveLength(2);
  expect(JSON.parse(said(round)).map((each: { content: { name: string } }) => each.content.name)).toEqual(['one', 'two']);
});

test('a page that a server wants opened first is shown to both kinds of clients, and the call says that it waits for that', async () => {
  questions.length = 0;
  expect(said(await call('older__page'))).toContain('Log in first');
  expect(questions).toEqual([expect.stringContaining('Log in')]);
  const round = await callModern('older__page');
  const [[key, question]] = Object.entries(round['inputRequests'] as Record<string, Message>) as [[string, Message]];
  expect(question['params']).toMatchObject({
    mode: 'url',
    url: 'https://login.example/x',
    message: expect.stringContaining('"older" asks'),
  });
  const again = { inputResponses: { [key]: { action: 'accept' } }, requestState: round['requestState'] };
  expect(said(await callModern('older__page', {}, again))).toContain('Log in first');
});

test('a client that can not be asked is not: the server hears why', async () => {
  const result = await call('older__elicit', {}, modern({}));
  expect(said(result)).toContain("can't be asked");
  expect(await call('modern__sample', {}, modern({}))).toMatchObject({ isError: true });
});

test.each(['older', 'modern'])(
  'progress and log lines of a server of the %s era reach both kinds of clients, at the level that each wants',
  async (server) => {
    await call(`${server}__steps`, {}, { _meta: { progressToken: 'p' } });
    expect((await noted('notifications/progress', ({ progress }) => progress === 4))['total']).toBe(4);
    await callModern(`${server}__steps`, {}, modern({}, { progressToken: 'q' }));
    await noted('notifications/progress', ({ progress, progressToken }) => progress === 4 && progressToken === 'q');

    await mcp.ask('logging/setLevel', { level: 'error' });
    notes.length = 0;
    await call(`${server}__log`);
    await callModern(`${server}__log`);
    await callModern(`${server}__log`, {}, modern({}, { [`${META}logLevel`]: 'debug' }));
    const lines = notes.filter(({ method }) => method === 'notifications/message').map(({ params }) => params);
    expect(lines.map(({ data, logger }) => `${String(logger)}: ${String(data)}`).sort()).toEqual(
      [`${server}: at debug`, `${server}: at error`, `${server}: at error`].sort(),
    );
    await expect(mcp.ask('logging/setLevel', { level: 'loud' })).rejects.toThrow('level');
  },
);

test.each(['older', 'modern'])('a resource of a server of the %s era is watched by both kinds of clients', async (server) => {
  const uri = `writ://upstream/${server}/${encodeURIComponent('thing://one')}`;
  await mcp.ask('resources/subscribe', { uri });
  const listen = mcp.ask(
    'subscriptions/listen',
    { notifications: { resourceSubscriptions: [uri, 'none://x'], toolsListChanged: true }, ...modern() },
    `listen-${server}`,
  );
  listen.catch(() => {});
  expect(await noted('notifications/subscriptions/acknowledged')).toMatchObject({
    notifications: { resourceSubscriptions: [uri], toolsListChanged: true },
  });
  // The server of 2026-07-28 is told of it on a stream of its own, which may come after the call.
  const both = Promise.all([
    noted('notifications/resources/updated', (params) => params['uri'] === uri && params['_meta'] === undefined),
    noted('notifications/resources/updated', ({ _meta: meta }) => (meta as Message)?.[`${META}subscriptionId`] === `listen-${server}`),
  ]);
  let heard = false;
  void both.then(() => {
    heard = true;
  });
  while (!heard) await call(`${server}__touch`);
  expect((await both).map((params) => params['uri'])).toEqual([uri, uri]);
  await mcp.ask('resources/unsubscribe', { uri });
  mcp.tell('notifications/cancelled', { requestId: `listen-${server}` });
  await expect(mcp.ask('resources/subscribe', { uri: 'none://x' })).rejects.toThrow('not found');
});

test.each(['older', 'modern'])('a changed list of a server of the %s era is told to both kinds of clients', async (server) => {
  const listen = mcp.ask('subscriptions/listen', { notifications: { toolsListChanged: true }, ...modern() }, `tools-${server}`);
  listen.catch(() => {});
  await noted('notifications/subscriptions/acknowledged');
  notes.length = 0;
  await call(`${server}__rename`);
  await noted('notifications/tools/list_changed', ({ _meta: meta }) => meta === undefined);
  await noted('notifications/tools/list_changed', ({ _meta: meta }) => (meta as Message)?.[`${META}subscriptionId`] === `tools-${server}`);
  expect(await listed(mcp, `${server}__another`)).toContain(`${server}__another`);
  expect(said(await call(`${server}__another`))).toBe('here');
  mcp.tell('notifications/cancelled', { requestId: `tools-${server}` });
});

test('a task of a server of 2026-07-28 is followed, answered and cancelled by whoever was given it', async () => {
  const able = { ...asking, extensions: { [`${META}tasks`]: {} } };
  const withTasks = (name: string, params: object = {}): Promise<Message> => mcp.ask(name, { ...params, ...modern(able) });
  const started = await withTasks('tools/call', { name: 'modern__task', arguments: {} });
  expect(started).toMatchObject({ resultType: 'task', status: 'working', ttlMs: 60_000, taskId: expect.stringMatching(/^modern\./) });
  const { taskId } = started;
  const waits = await withTasks('tasks/get', { taskId });
  expect(waits).toMatchObject({ resultType: 'complete', taskId, status: 'input_required', ttlMs: 60_000 });
  expect(JSON.stringify(waits['inputRequests'])).toContain('The MCP server \\"modern\\" asks');
  expect(await withTasks('tasks/update', { taskId, inputResponses: { name: NAME } })).toMatchObject({ resultType: 'complete' });
  const done = await withTasks('tasks/get', { taskId });
  expect(done).toMatchObject({ status: 'completed', result: { isError: false, content: expect.any(Array) } });
  expect(said(done['result'] as Message)).toContain('done with {"name"');
  // What it gave is labelled like any other result.
  expect(JSON.stringify(done['result'])).toContain('came from the MCP server');
  const second = (await withTasks('tools/call', { name: 'modern__task', arguments: {} }))['taskId'];
  await withTasks('tasks/cancel', { taskId: second });
  expect(await withTasks('tasks/get', { taskId: second })).toMatchObject({ status: 'cancelled' });
  await expect(withTasks('tasks/get', { taskId: 'task-1' })).rejects.toThrow('no such task');
  // A client that knows no tasks is given none.
  expect(await callModern('modern__task')).toMatchObject({ isError: true });
});
