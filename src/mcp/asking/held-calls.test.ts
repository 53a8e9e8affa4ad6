import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AppError } from '../../kernel/errors.ts';
import type { Members, Reply } from '../../kernel/json-rpc/message.ts';
import { createInFlight, type Flight } from '../in-flight.ts';
import type { Work, WorkContext } from '../methods/context.ts';
import { featuresOf } from '../revisions.ts';
import { createHeldCalls } from './held-calls.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const flights = createInFlight({ max: 100, taken: 0 });
const MEANT = { tool: 'x__ask', arguments: { a: 1 } };
const OWNER = { organization: 'org_local', agent: 'ag_1', run: 'run_1', workspace: '/w' };

function context(params: Members = {}, more: { owner?: object; flight?: Flight } = {}): WorkContext {
  const flight = more.flight ?? flights.open(1);
  if (flight === undefined) throw new Error('no place');
  return {
    flight,
    params,
    features: featuresOf('2026-07-28'),
    peer: { revision: '2026-07-28', client: undefined, capabilities: { elicitation: {} }, roots: async () => [] },
    parts: { foreign: () => ({}), scopeOf: () => ({ owner: more.owner ?? OWNER, workspaces: [] }) },
    offer() {},
    send() {},
  } as unknown as WorkContext;
}

/** Asks once and says what it heard, and how it ended. */
function asker(): { work: Work; ended: string[] } {
  const ended: string[] = [];
  return {
    ended,
    async work({ ask, flight }) {
      const cancelled = new Promise<string>((resolve) => {
        const say = (): void => resolve((flight.signal.reason as AppError).message);
        if (flight.signal.aborted) say();
        flight.signal.addEventListener('abort', say);
      });
      const answer = await Promise.race([ask({ method: 'elicitation/create', params: { message: 'Who?' }, ms: 1 }), cancelled]);
      ended.push(typeof answer === 'string' ? answer : answer.ok ? 'answered' : answer.reason);
      return { result: { heard: ended.at(-1) } };
    },
  };
}
const resultOf = (reply: Reply | undefined): Members => (reply !== undefined && 'result' in reply ? reply.result : { error: reply });
const answering = (question: Members): Members => ({
  requestState: question['requestState'],
  inputResponses: Object.fromEntries(Object.keys(question['inputRequests'] as object).map((key) => [key, { action: 'accept' }])),
});

test('a call that nobody comes back for is cancelled after ten minutes, and its state is good for nothing then', async () => {
  const places = { max: 4, taken: 0 };
  const held = createHeldCalls(places);
  const { work, ended } = asker();
  const question = resultOf(await held.run(context(), MEANT, work));
  expect(places.taken).toBe(1);
  await vi.advanceTimersByTimeAsync(10 * 60_000 - 1);
  expect(ended).toEqual([]);
  await vi.advanceTimersByTimeAsync(1);
  expect(ended).toEqual(['Nobody came back with an answer within 10 minutes.']);
  expect(places.taken).toBe(0);
  expect(await held.run(context(answering(question)), MEANT, work)).toHaveProperty('error');
  expect(ended).toHaveLength(1);
});

test('no more calls of one agent wait than its places; the next one hears that it can not ask', async () => {
  const places = { max: 2, taken: 0 };
  const held = createHeldCalls(places);
  const { work } = asker();
  const first = resultOf(await held.run(context(), MEANT, work));
  await held.run(context(), MEANT, work);
  expect(resultOf(await held.run(context(), MEANT, work))).toEqual({ heard: '2 calls of this client wait for an answer already' });
  expect(resultOf(await held.run(context(answering(first)), MEANT, work))).toEqual({ heard: 'answered' });
  expect(places.taken).toBe(1);
});

test('another agent, another Workspace and another call do not get it; another Run of the same one does', async () => {
  const held = createHeldCalls({ max: 4, taken: 0 });
  const { work } = asker();
  const brought = answering(resultOf(await held.run(context(), MEANT, work)));
  for (const owner of [
    { ...OWNER, agent: 'ag_2' },
    { ...OWNER, workspace: '/v' },
    { ...OWNER, organization: 'o' },
  ])
    expect(await held.run(context(brought, { owner }), MEANT, work)).toHaveProperty('error');
  expect(await held.run(context(brought), { ...MEANT, arguments: { a: 2 } }, work)).toHaveProperty('error');
  expect(resultOf(await held.run(context(brought, { owner: { ...OWNER, run: 'run_2' } }), MEANT, work))).toEqual({ heard: 'answered' });
});

test('whoever cancels the request that waits cancels the call; the end of the connection ends those that wait for their client', async () => {
  const held = createHeldCalls({ max: 4, taken: 0 });
  const slow = asker();
  const question = resultOf(
    await held.run(context(), MEANT, async (inner) => {
      await inner.ask({ method: 'elicitation/create', ms: 1 });
      return slow.work({ ...inner, ask: () => new Promise(() => {}) });
    }),
  );
  const flight = flights.open(2);
  const open = held.run(context(answering(question), flight === undefined ? {} : { flight }), MEANT, slow.work);
  flight?.cancel('The client cancelled the request.');
  await open;
  expect(slow.ended).toEqual(['The client cancelled the request.']);

  const parked = asker();
  await held.run(context(), MEANT, parked.work);
  held.close('The connection ended.');
  await vi.advanceTimersByTimeAsync(0);
  expect(parked.ended).toEqual(['The connection ended.']);
});

test('a question that is taken back while the client is away is no longer waited for', async () => {
  const held = createHeldCalls({ max: 4, taken: 0 });
  const back = new AbortController();
  const question = resultOf(
    await held.run(context(), MEANT, async ({ ask }) => {
      const answer = await ask({ method: 'elicitation/create', ms: 1, signal: back.signal });
      return { result: { heard: answer.ok } };
    }),
  );
  back.abort();
  expect(resultOf(await held.run(context(answering(question)), MEANT, async () => undefined))).toEqual({ heard: false });
});

test('a client that can not be asked, and one of an older revision, is served without any of it', async () => {
  const held = createHeldCalls({ max: 4, taken: 0 });
  const work: Work = async (inner) => ({ result: { same: inner === plain } });
  const usual = context();
  let plain: WorkContext = { ...usual, features: featuresOf('2025-11-25') };
  expect(resultOf(await held.run(plain, MEANT, work))).toEqual({ same: true });
  plain = { ...usual, peer: { ...usual.peer, capabilities: {} } };
  expect(resultOf(await held.run(plain, MEANT, work))).toEqual({ same: true });
});
