import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cardOf, openTestHome, questionOf, type TestHome } from '../../test/helpers/approvals.ts';
import type { Decider } from './types.ts';

const TERMINAL: Decider = { channel: 'terminal', who: 'operator' };
const FORM: Decider = { channel: 'elicitation', who: 'host' };
const yes = { decision: 'approve' } as const;
const MINUTE = 60_000;

let place: TestHome;
beforeAll(() => {
  place = openTestHome();
});
beforeEach(() => place.forget());
afterAll(() => place.dispose());

const never = (): AbortSignal => new AbortController().signal;

describe('a question and its answer', () => {
  test('is asked, answered once, used once, and each step is recorded', async () => {
    const { approvals } = place.another();
    const { record, attached } = await approvals.open(questionOf());
    expect([record.state, attached]).toEqual(['pending', false]);
    expect(await approvals.answer(record.id, { ...yes, note: ' fine ' }, TERMINAL)).toMatchObject({
      ok: true,
      record: { state: 'approved', note: 'fine', opens: record.card.opens, decided_by: TERMINAL },
    });
    expect(await approvals.use(record.id, 'sha256:other')).toBe(false);
    expect(await approvals.use(record.id, record.digest)).toBe(true);
    expect(await approvals.use(record.id, record.digest)).toBe(false);
    expect((await approvals.get(record.id))?.state).toBe('used');
    expect(place.events.map(({ type, data }) => [type, data['decision']])).toEqual([
      ['approval.requested', undefined],
      ['approval.decided', 'approved'],
      ['approval.used', undefined],
    ]);
  });

  test('two processes answer at once: one is first, the other sees what it said', async () => {
    const [one, two] = [place.another(), place.another()];
    for (let round = 0; round < 10; round++) {
      const { record } = await one.approvals.open(questionOf({ digest: `sha256:${round}` }));
      const answers = await Promise.all([
        one.approvals.answer(record.id, yes, TERMINAL),
        two.approvals.answer(record.id, { decision: 'deny', note: 'no' }, { channel: 'page', who: 'other' }),
      ]);
      const [won] = answers.filter((answer) => answer.ok);
      const [lost] = answers.filter((answer) => !answer.ok);
      expect(answers.filter((answer) => answer.ok)).toHaveLength(1);
      expect(lost).toMatchObject({ reason: 'already_decided', record: { state: won && 'record' in won ? won.record.state : '' } });
    }
  });

  test('two processes use one yes at once: exactly one does', async () => {
    const [one, two] = [place.another(), place.another()];
    for (let round = 0; round < 10; round++) {
      const { record } = await one.approvals.open(questionOf({ digest: `sha256:${round}` }));
      await one.approvals.answer(record.id, yes, TERMINAL);
      const used = await Promise.all([one.approvals.use(record.id, record.digest), two.approvals.use(record.id, record.digest)]);
      expect(used.filter(Boolean)).toHaveLength(1);
    }
  });

  test('a yes is used once although everything else was deleted and put back', async () => {
    const { approvals } = place.another();
    const { record } = await approvals.open(questionOf());
    await approvals.answer(record.id, yes, TERMINAL);
    expect(await approvals.use(record.id, record.digest)).toBe(true);
    const { DatabaseSync } = await import('node:sqlite');
    const { databaseFile } = await import('../store/index.ts');
    const raw = new DatabaseSync(databaseFile(place.home));
    raw.exec("UPDATE approvals SET state = 'approved'; DELETE FROM approval_callers");
    raw.close();
    expect(await approvals.use(record.id, record.digest)).toBe(false);
  });

  test('a waiter in another process sees the answer; one that is cancelled goes on at once', async () => {
    const [asking, answering] = [place.another(), place.another()];
    const { record } = await asking.approvals.open(questionOf());
    const waiting = asking.approvals.wait(record.id, 10_000, never());
    await answering.approvals.answer(record.id, { decision: 'deny' }, TERMINAL);
    expect((await waiting).state).toBe('denied');

    const { record: second } = await asking.approvals.open(questionOf({ digest: 'sha256:two' }));
    expect((await asking.approvals.wait(second.id, 10_000, AbortSignal.abort())).state).toBe('pending');
    expect((await asking.approvals.wait(second.id, 1, never())).state).toBe('pending');
  });

  test('at most 64 questions of one agent are open', async () => {
    const { approvals } = place.another();
    for (let i = 0; i < 64; i++) await approvals.open(questionOf({ digest: `sha256:${i}` }));
    await expect(approvals.open(questionOf({ digest: 'sha256:more' }))).rejects.toMatchObject({ code: 'busy' });
    const other = { ...questionOf().owner, agent: 'agent_other' };
    expect((await approvals.open(questionOf({ digest: 'sha256:more', owner: other }))).record.state).toBe('pending');
  });
});

describe('an identical call', () => {
  test('attaches while it is pending and for a minute after the answer that nobody took', async () => {
    const [one, two] = [place.another(), place.another()];
    const { record } = await one.approvals.open(questionOf());
    expect(await two.approvals.open(questionOf())).toMatchObject({ attached: true, record: { id: record.id } });
    await one.approvals.answer(record.id, { decision: 'deny', note: 'no' }, TERMINAL);
    place.time.pass(59_000);
    expect(await two.approvals.open(questionOf())).toMatchObject({ attached: true, record: { id: record.id, state: 'denied' } });
    place.time.pass(2_000);
    expect((await two.approvals.open(questionOf())).attached).toBe(false);
  });

  test('asks anew once it was told, and after a yes was used', async () => {
    const { approvals } = place.another();
    const { record: denied } = await approvals.open(questionOf());
    await approvals.answer(denied.id, { decision: 'deny' }, TERMINAL);
    await approvals.taken(denied.id);
    const { record, attached } = await approvals.open(questionOf());
    expect(attached).toBe(false);
    await approvals.answer(record.id, yes, TERMINAL);
    await approvals.use(record.id, record.digest);
    expect((await approvals.open(questionOf())).attached).toBe(false);
  });

  test('keeps the question when another call that waits for it is cancelled', async () => {
    const { approvals } = place.another();
    const first = await approvals.open(questionOf());
    const second = await approvals.open(questionOf());
    await approvals.withdraw(first.record.id, first.caller);
    expect((await approvals.get(first.record.id))?.state).toBe('pending');
    await approvals.withdraw(first.record.id, second.caller);
    expect((await approvals.get(first.record.id))?.state).toBe('withdrawn');
    expect(await approvals.answer(first.record.id, yes, TERMINAL)).toMatchObject({ ok: false, reason: 'already_decided' });
  });
});

describe('time', () => {
  test.each([
    ['ten minutes pass', { pass: 10, set: 0 }],
    ['ten minutes pass while the clock is set back', { pass: 10, set: -9 }],
    ['the clock is set forward', { pass: 0, set: 11 }],
    ['the machine restarts with its clock an hour back', { pass: 0, set: -60, reboot: true }],
  ])('%s: over, for the question and for a yes', async (_, happens) => {
    const { approvals } = place.another();
    const { record: asked } = await approvals.open(questionOf());
    const { record: agreed } = await approvals.open(questionOf({ digest: 'sha256:two' }));
    await approvals.answer(agreed.id, yes, TERMINAL);
    place.time.pass(happens.pass * MINUTE);
    place.time.set(happens.set * MINUTE);
    if ('reboot' in happens) place.time.reboot();
    expect(await approvals.use(agreed.id, agreed.digest)).toBe(false);
    expect(await approvals.answer(asked.id, yes, TERMINAL)).toMatchObject({ ok: false, reason: 'expired' });
    expect((await approvals.wait(asked.id, 1_000, never())).state).toBe('expired');
    place.time.set(-5 * MINUTE);
    expect((await approvals.get(asked.id))?.state).toBe('expired');
    expect(place.events.filter(({ type }) => type === 'approval.expired')).toHaveLength(2);
  });

  test('answered questions leave after a week, the marks of used ones stay', async () => {
    const { approvals } = place.another();
    const { record } = await approvals.open(questionOf());
    await approvals.answer(record.id, yes, TERMINAL);
    await approvals.use(record.id, record.digest);
    place.time.pass(8 * 24 * 60 * MINUTE);
    await approvals.open(questionOf({ digest: 'sha256:two' }));
    expect(await approvals.get(record.id)).toBeUndefined();
    const reader = await place.reader();
    expect(reader.all('SELECT id FROM approvals_used', [])).toEqual([{ id: record.id }]);
  });
});

describe('what a yes opens', () => {
  const opens = [
    { type: 'hosts', hosts: ['a.example', 'b.example'], presets: ['npm'] },
    { type: 'path', path: '/etc/app', access: 'write' },
  ] as const;

  test.each([
    [[], true],
    [[{ type: 'hosts', hosts: ['b.example'], presets: [] }], true],
    [[{ type: 'hosts', hosts: ['elsewhere.example'], presets: ['npm'] }], true],
    [[{ type: 'path', path: '/etc/app', access: 'read' }], true],
    [[{ type: 'path', path: '/etc/other', access: 'read' }], false],
    [[{ type: 'hosts', hosts: [], presets: ['pypi'] }], false],
    [[{ type: 'hosts', hosts: ['a b'], presets: [] }], false],
    [[{ type: 'hosts', hosts: ['http://a.example/x'], presets: [] }], false],
    [[{ type: 'uncontained', why: 'sudo' }], false],
  ] as const)('%j left open: %s', async (left, ok) => {
    const { approvals } = place.another();
    const { record } = await approvals.open(questionOf({ card: cardOf({ opens }) }));
    const answered = await approvals.answer(record.id, { ...yes, opens: left }, TERMINAL);
    expect(answered).toMatchObject(ok ? { ok, record: { opens: left } } : { ok, reason: 'too_much', record: { state: 'pending' } });
  });

  test('hosts can not be put where none were asked for', async () => {
    const { approvals } = place.another();
    const { record } = await approvals.open(questionOf({ card: cardOf({ opens: [opens[1]] }) }));
    const more = { ...yes, opens: [{ type: 'hosts', hosts: ['a.example'], presets: [] }] } as const;
    expect(await approvals.answer(record.id, more, TERMINAL)).toMatchObject({ ok: false, reason: 'too_much' });
  });

  test('uncontained is the operator’s to say: a form of a host does not count', async () => {
    const { approvals } = place.another();
    const card = cardOf({ opens: [{ type: 'uncontained', why: 'sudo' }] });
    const { record } = await approvals.open(questionOf({ card }));
    expect(await approvals.answer(record.id, yes, FORM)).toMatchObject({ ok: false, reason: 'operator_only' });
    expect(await approvals.answer(record.id, yes, TERMINAL)).toMatchObject({ ok: true });
  });

  test('a path that is masked on the card opens as it is', async () => {
    const { approvals } = place.another();
    const shown = { type: 'path', path: '/tmp/[redacted:x]', access: 'read' } as const;
    const question = questionOf({ card: cardOf({ opens: [shown] }), offered: [{ ...shown, path: '/tmp/ghp_1' }] });
    const { record } = await approvals.open(question);
    expect(JSON.stringify(await approvals.list())).not.toContain('ghp_1');
    expect(await approvals.answer(record.id, { ...yes, opens: [shown] }, TERMINAL)).toMatchObject({
      record: { opens: [{ path: '/tmp/ghp_1' }] },
    });
    const secret = `ghp_${'FakeToken0'.repeat(4).slice(0, 36)}`;
    const { record: other } = await approvals.open(questionOf({ digest: 'sha256:2', offered: [{ ...shown, path: `/tmp/${secret}` }] }));
    await approvals.answer(other.id, { ...yes, note: `use ${secret}` }, TERMINAL);
    expect(place.events).toHaveLength(4);
    expect(JSON.stringify(place.events)).not.toContain(secret);
  });
});

describe('friction', () => {
  const grave = (digest: string) => questionOf({ digest, card: cardOf({ effects: ['persistence'], opens: [] }) });

  test('the second grave yes within a minute needs its word, whenever it was asked', async () => {
    const { approvals } = place.another();
    const first = await approvals.open(grave('sha256:1'));
    const early = await approvals.open(grave('sha256:2'));
    expect(early.record.card.word).toBeUndefined();
    expect(await approvals.answer(first.record.id, yes, TERMINAL)).toMatchObject({ ok: true });
    const refused = await approvals.answer(early.record.id, yes, TERMINAL);
    expect(refused).toMatchObject({ ok: false, reason: 'word', record: { state: 'pending', card: { word: 'persist' } } });
    expect(await approvals.answer(early.record.id, { ...yes, word: 'yes' }, TERMINAL)).toMatchObject({ reason: 'word' });
    expect(await approvals.answer(early.record.id, { ...yes, word: ' Persist ' }, TERMINAL)).toMatchObject({ ok: true });
    expect((await approvals.open(grave('sha256:3'))).record.card.word).toBe('persist');
    expect((await approvals.open(questionOf({ digest: 'sha256:4' }))).record.card.word).toBeUndefined();
  });

  test('a minute later, and for a no, none is needed', async () => {
    const { approvals } = place.another();
    const first = await approvals.open(grave('sha256:1'));
    await approvals.answer(first.record.id, yes, TERMINAL);
    const second = await approvals.open(grave('sha256:2'));
    expect(await approvals.answer(second.record.id, { decision: 'deny' }, TERMINAL)).toMatchObject({ ok: true });
    place.time.pass(61_000);
    expect((await approvals.open(grave('sha256:3'))).record.card.word).toBeUndefined();
  });
});

describe('channels', () => {
  test('are live while somebody attends, and for 15 s after they died', async () => {
    const [watching, asking] = [place.another(), place.another()];
    expect(await asking.approvals.liveChannels()).toEqual([]);
    const terminal = watching.approvals.attend('terminal');
    await terminal.ready;
    expect(await asking.approvals.liveChannels()).toEqual(['terminal']);
    await terminal.close();
    expect(await asking.approvals.liveChannels()).toEqual([]);

    await watching.approvals.attend('page').ready;
    expect(await asking.approvals.liveChannels()).toEqual(['page']);
    await watching.approvals.close();
    place.time.pass(15_001);
    expect(await asking.approvals.liveChannels()).toEqual([]);
  });

  test('a webhook is one only with a page to go to', async () => {
    const told: string[] = [];
    const other = openTestHome({ webhook: { notify: ({ state }) => void told.push(state), close: async () => {} } });
    const { approvals } = other.another();
    const { record } = await approvals.open(questionOf());
    await approvals.open(questionOf());
    await approvals.answer(record.id, yes, TERMINAL);
    await approvals.use(record.id, record.digest);
    expect(told).toEqual(['pending', 'approved']);
    expect(await approvals.liveChannels()).toEqual([]);
    await approvals.attend('server').ready;
    expect(await approvals.liveChannels()).toEqual(['webhook']);
    await other.dispose();
  });
});
