import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openTestHome, type TestHome } from '../../test/helpers/approvals.ts';
import type { ApprovalRecord, Reply } from '../approvals/types.ts';
import { AppError } from '../kernel/errors.ts';
import { silentLogger } from '../kernel/logger.ts';
import { createRedactor } from '../kernel/redaction/index.ts';
import type { Assessment, Decision, Opening, PolicyConfig } from '../policy/types.ts';
import type { Tool } from '../tools/tool.ts';
import { createGate } from './gate.ts';
import type { Asker, Gate, GateAnswer, GateRequest } from './types.ts';

const NET = { type: 'hosts', hosts: ['example.com'], presets: [] } as const;

interface Call {
  readonly command: string;
  readonly effect?: Assessment['effects'][number];
  readonly opens?: Opening;
  readonly verdict?: 'prompt' | 'deny';
}

let place: TestHome;
let ran: { readonly input: Call; readonly opens: Decision['opens'] }[];
let policy: PolicyConfig;
let wait_ms: number;

beforeAll(() => {
  place = openTestHome();
});
beforeEach(async () => {
  await place.forget();
  ran = [];
  policy = { classes: {}, deny: [], prompt: [], allow: [] };
  wait_ms = 30_000;
});
afterAll(() => place.dispose());

/** Machines are busy; nothing here says how fast it is. */
const wait = { timeout: 20_000 };

const probe: Tool<Call> = {
  name: 'probe',
  description: '',
  inputSchema: {},
  outputSchema: {},
  annotations: { title: '', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: (raw) => ({ ok: true, input: raw as Call }),
  assess: ({ command, effect = 'network_egress', opens = NET, verdict }): Assessment => ({
    effects: [effect],
    findings: [{ effect, span: [0, 1], argv: command.split(' '), reason: 'does it', command: 0, opens, ...(verdict ? { verdict } : {}) }],
    commands: [{ argv: command.split(' '), span: [0, 1] }],
    git_config_write: false,
  }),
  show: ({ command }) => ({ what: command, cwd: '/w' }),
  run: async (input, _context, { opens }) => {
    ran.push({ input, opens });
    if (input.command === 'fails') throw new AppError('outcome_unknown', 'gone', { data: { origins: ['web:fails.example'] } });
    return { structured: {}, text: 'done', evidence: {}, ...(input.command.startsWith('reads') ? { origins: ['web:reads.example'] } : {}) };
  },
};

/** A gate as one process has it. */
function gateOf(process = place.another()): { gate: Gate } & ReturnType<TestHome['another']> {
  const asked_by = { boot_id: 'b', pid: 1, start: '1' };
  const gate = createGate({
    tools: [probe],
    allows: () => true,
    policyOf: () => ({ rules: policy, nonInteractive: 'deny' }),
    people: async () => ({ ...process, waitMs: () => wait_ms, asked_by, has_page: false }),
    audit: async () => ({
      record: async (event) => ({ chain: 'c', seq: place.events.push(event) }),
      enqueue: (event) => void place.events.push(event),
      flush: async () => {},
      close: async () => {},
    }),
    redactor: createRedactor(),
    clock: place.time,
    logger: silentLogger,
  });
  return { gate, ...process };
}

const request = (command: string | Call, more: Partial<GateRequest> = {}): GateRequest => ({
  tool: 'probe',
  arguments: typeof command === 'string' ? { command } : command,
  owner: { organization: 'org_local', agent: 'agent_local', run: 'run_1', workspace: '/w' },
  workspaces: [{ path: '/w', access: 'write' }],
  toolset: 'default',
  client: { name: 'host', version: '1', protocol: '2025-11-25' },
  signal: new AbortController().signal,
  progress: () => {},
  ...more,
});

const codeOf = (answer: GateAnswer): string => (answer.type === 'refused' ? answer.code : answer.type);
const eventsOf = (type: string) => place.events.filter((event) => event.type === type);

/** Answers a form with what the test says, and keeps what was shown. */
function form(answer: (record: ApprovalRecord, signal: AbortSignal) => unknown, hold_ms = 30_000): Asker & { shown: ApprovalRecord[] } {
  const shown: ApprovalRecord[] = [];
  return {
    type: 'in_call',
    hold_ms,
    shown,
    ask: async (record, signal) => {
      shown.push(record);
      return (await answer(record, signal)) as Reply;
    },
  };
}

const untilAborted = (_: ApprovalRecord, signal: AbortSignal): Promise<{ unreachable: string }> =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve({ unreachable: 'ended' }), { once: true });
  });

describe('asked in the call', () => {
  test('a yes makes it work, with what was agreed to and no more', async () => {
    const { gate } = gateOf();
    const asker = form(() => ({ decision: 'approve', opens: [{ type: 'hosts', hosts: ['other.example'], presets: [] }] }));
    expect(codeOf(await gate.call(request('curl example.com', { asker })))).toBe('result');
    expect(ran).toMatchObject([{ opens: [{ hosts: ['other.example'] }] }]);
    expect(asker.shown).toMatchObject([{ card: { what: 'curl example.com', cwd: '/w', client: 'host 1', opens: [NET] } }]);
    expect(place.events.map(({ type }) => type)).toEqual([
      'approval.requested',
      'approval.decided',
      'approval.used',
      'action.decided',
      'action.finished',
    ]);
    expect(place.events[0]?.action).toBe(place.events.at(-1)?.action);
    expect(eventsOf('action.decided')).toMatchObject([
      { data: { by: { approval: asker.shown[0]?.id, decided_by: { channel: 'elicitation' } } } },
    ]);
  });

  test('a no is a person’s no, with what they say', async () => {
    const { gate } = gateOf();
    const answer = await gate.call(request('curl example.com', { asker: form(() => ({ decision: 'deny', note: 'use the mirror' })) }));
    expect(answer).toMatchObject({ code: 'denied_by_human', message: expect.stringContaining('use the mirror') });
    expect(ran).toEqual([]);
  });

  test.each([
    ['dismissed', () => ({ unreachable: 'dismissed' })],
    ['a form that breaks', () => Promise.reject(new Error('broken'))],
    ['more than was asked for', () => ({ decision: 'approve', opens: [{ type: 'path', path: '/etc', access: 'write' }] })],
  ])('%s is nobody’s no: no_channel, and the question is taken back', async (_, answer) => {
    const { gate, approvals } = gateOf();
    expect(codeOf(await gate.call(request('curl example.com', { asker: form(answer) })))).toBe('no_channel');
    expect(await approvals.list()).toMatchObject([{ state: 'withdrawn' }]);
    expect(ran).toEqual([]);
  });

  test('a form that fails leaves the question to whoever else is there', async () => {
    const { gate, approvals } = gateOf();
    await approvals.attend('terminal').ready;
    const asker = form(() => ({ unreachable: 'dismissed' }));
    const answer = gate.call(request('curl example.com', { asker }));
    await expect.poll(() => approvals.list({ state: 'pending' }), wait).toHaveLength(1);
    await approvals.answer(asker.shown[0]?.id ?? '', { decision: 'approve' }, { channel: 'terminal', who: 'me' });
    expect(codeOf(await answer)).toBe('result');
  });

  test('a form that fails keeps its host waiting no longer than one without a form', async () => {
    const { gate, approvals } = gateOf();
    await approvals.attend('terminal').ready;
    wait_ms = 20;
    const asker = form(() => ({ unreachable: 'dismissed' }), 600_000);
    expect(codeOf(await gate.call(request('curl example.com', { asker })))).toBe('approval_pending');
    expect(await approvals.list()).toMatchObject([{ state: 'pending' }]);
  });

  test('somebody else answers first: the form is taken away', async () => {
    const { gate, approvals } = gateOf();
    const asker = form(untilAborted);
    const answer = gate.call(request('curl example.com', { asker }));
    await expect.poll(() => asker.shown, wait).toHaveLength(1);
    await place.another().approvals.answer(asker.shown[0]?.id ?? '', { decision: 'deny' }, { channel: 'page', who: 'me' });
    expect(codeOf(await answer)).toBe('denied_by_human');
    expect(await approvals.list({ state: 'pending' })).toEqual([]);
  });

  test('the word that has become due is asked for in a second form', async () => {
    const { gate } = gateOf();
    const grave = (n: number): Call => ({
      command: `touch ${n}`,
      effect: 'persistence',
      opens: { type: 'path', path: '/etc/x', access: 'write' },
    });
    expect(codeOf(await gate.call(request(grave(1), { asker: form(() => ({ decision: 'approve' })) })))).toBe('result');
    const asker = form(({ card }) => ({ decision: 'approve', ...(card.word ? { word: card.word } : {}) }));
    expect(codeOf(await gate.call(request(grave(2), { asker })))).toBe('result');
    const stubborn = form(() => ({ decision: 'approve' }));
    expect(codeOf(await gate.call(request(grave(3), { asker: stubborn })))).toBe('no_channel');
    expect(stubborn.shown).toHaveLength(3);
  });

  test('a cancelled call takes its question back, unless another call waits for it', async () => {
    const { gate, approvals } = gateOf();
    const [one, two] = [new AbortController(), new AbortController()];
    const asker = form(untilAborted);
    const first = gate.call(request('curl example.com', { asker, signal: one.signal }));
    const second = gate.call(request('curl example.com', { asker, signal: two.signal }));
    await expect.poll(() => asker.shown, wait).toHaveLength(2);
    one.abort();
    expect(codeOf(await first)).toBe('cancelled');
    expect(await approvals.list()).toMatchObject([{ state: 'pending' }]);
    two.abort();
    expect(codeOf(await second)).toBe('cancelled');
    expect(await approvals.list()).toMatchObject([{ state: 'withdrawn' }]);
  });

  test('what policy denies is never asked, and uncontained not in a form', async () => {
    const { gate } = gateOf();
    const asker = form(() => ({ decision: 'approve' }));
    expect(codeOf(await gate.call(request({ command: 'x', verdict: 'deny' }, { asker })))).toBe('denied_by_policy');
    const sudo: Call = { command: 'sudo x', effect: 'system_write', opens: { type: 'uncontained', why: 'sudo' } };
    expect(codeOf(await gate.call(request(sudo, { asker })))).toBe('no_channel');
    expect(asker.shown).toEqual([]);
    expect(codeOf(await gate.call(request(sudo, { asker: { ...asker, page: true } })))).toBe('no_channel');
    expect(ran).toEqual([]);
    const [inForm, onPage] = [form(() => ({ decision: 'approve' })), form(() => ({ unreachable: 'closed' }))];
    await gate.call(request(sudo, { asker: { ...inForm, on_page: { ...onPage, page: true } } }));
    expect([inForm.shown.length, onPage.shown.length]).toEqual([0, 1]);
  });
});

describe('pending', () => {
  test('a call ends before its person answers; the identical retry gets the outcome, once', async () => {
    const { gate, approvals } = gateOf();
    wait_ms = 1;
    await approvals.attend('page').ready;
    const pending = await gate.call(request('curl example.com'));
    expect(codeOf(pending)).toBe('approval_pending');
    const [record] = await approvals.list();
    expect(pending).toMatchObject({ fix: expect.stringContaining(`writ approvals approve ${record?.id}`) });
    expect(codeOf(await gate.call(request('curl example.com')))).toBe('approval_pending');
    await approvals.answer(record?.id ?? '', { decision: 'approve' }, { channel: 'page', who: 'me' });
    expect(codeOf(await gate.call(request('curl example.com/other')))).toBe('approval_pending');
    expect(codeOf(await gate.call(request('curl example.com')))).toBe('result');
    expect(codeOf(await gate.call(request('curl example.com')))).toBe('approval_pending');
    expect(ran).toHaveLength(1);
  });

  test('two identical retries at once, in two processes: exactly one runs', async () => {
    const [one, two] = [gateOf(), gateOf()];
    wait_ms = 1;
    await one.approvals.attend('page').ready;
    for (let round = 0; round < 5; round++) {
      ran = [];
      await one.gate.call(request(`curl ${round}`));
      const record = (await one.approvals.list({ state: 'pending' })).find(({ card }) => card.what === `curl ${round}`);
      await one.approvals.answer(record?.id ?? '', { decision: 'approve' }, { channel: 'page', who: 'me' });
      const codes = (await Promise.all([one.gate.call(request(`curl ${round}`)), two.gate.call(request(`curl ${round}`))])).map(codeOf);
      expect(codes).toContain('result');
      expect(ran).toHaveLength(1);
    }
  });

  test('nobody answers: expired, told once, and kept apart from a no', async () => {
    const { gate, approvals } = gateOf();
    wait_ms = 1;
    await approvals.attend('page').ready;
    await gate.call(request('curl example.com'));
    place.time.pass(600_000);
    await approvals.attend('page').ready;
    await approvals.list();
    expect(codeOf(await gate.call(request('curl example.com')))).toBe('expired_unanswered');
    expect(eventsOf('approval.expired')).toHaveLength(1);
  });

  test('policy changed, or what it would do: the yes does not count and is not used', async () => {
    const { gate } = gateOf();
    const asker = form(() => {
      policy = { ...policy, prompt: [{ argv: ['wget', '**'] }] };
      return { decision: 'approve' };
    });
    expect(codeOf(await gate.call(request('curl example.com', { asker })))).toBe('backend_changed');
    expect([ran, eventsOf('approval.used')]).toEqual([[], []]);
  });
});

describe('asked with the answer', () => {
  const asker: Asker = { type: 'with_answer' };
  const ask = async (gate: Gate, command = 'curl example.com'): Promise<ApprovalRecord> => {
    const answer = await gate.call(request(command, { asker }));
    if (answer.type !== 'input_required') throw new Error(codeOf(answer));
    return answer.approval;
  };

  test('comes back with a yes and runs, once', async () => {
    const { gate } = gateOf();
    const { id } = await ask(gate);
    const reply = { approval: id, reply: { decision: 'approve' } } as const;
    expect(codeOf(await gate.call(request('curl example.com', { asker, reply })))).toBe('result');
    expect(codeOf(await gate.call(request('curl example.com', { asker, reply })))).toBe('backend_changed');
    expect(ran).toHaveLength(1);
    expect(eventsOf('approval.refused')).toMatchObject([{ data: { approval: id, reason: 'the yes was used already' } }]);
  });

  test.each([
    ['other arguments', 'curl evil.example', (id: string) => id],
    ['an approval that there is not', 'curl example.com', () => 'apr_none'],
  ])('a reply with %s is refused and recorded as forged', async (_, command, of) => {
    const { gate, approvals } = gateOf();
    const { id } = await ask(gate);
    const reply = { approval: of(id), reply: { decision: 'approve' } } as const;
    expect(codeOf(await gate.call(request(command, { asker, reply })))).toBe('backend_changed');
    expect(eventsOf('approval.refused')).toHaveLength(1);
    expect([ran, (await approvals.get(id))?.state]).toEqual([[], 'pending']);
  });

  test('another agent’s yes is worth nothing here', async () => {
    const { gate } = gateOf();
    const { id } = await ask(gate);
    const reply = { approval: id, reply: { decision: 'approve' } } as const;
    const owner = { ...request('x').owner, agent: 'agent_other' };
    expect(codeOf(await gate.call(request('curl example.com', { asker, reply, owner })))).toBe('backend_changed');
  });

  test('answered elsewhere meanwhile: what was said first counts', async () => {
    const { gate, approvals } = gateOf();
    const { id } = await ask(gate);
    await approvals.answer(id, { decision: 'deny' }, { channel: 'terminal', who: 'me' });
    const reply = { approval: id, reply: { decision: 'approve' } } as const;
    expect(codeOf(await gate.call(request('curl example.com', { asker, reply })))).toBe('denied_by_human');
  });

  test('the word that has become due is asked for with another form', async () => {
    const { gate } = gateOf();
    const grave = (n: number): Call => ({
      command: `touch ${n}`,
      effect: 'persistence',
      opens: { type: 'path', path: '/etc/x', access: 'write' },
    });
    const first = await gate.call(request(grave(1), { asker }));
    const second = await gate.call(request(grave(2), { asker }));
    if (first.type !== 'input_required' || second.type !== 'input_required') throw new Error('not asked');
    const replyTo = (approval: ApprovalRecord, word?: string): GateRequest['reply'] => ({
      approval: approval.id,
      reply: { decision: 'approve', ...(word ? { word } : {}) },
    });
    const call = (n: number, reply: GateRequest['reply']) => gate.call(request(grave(n), { asker, ...(reply ? { reply } : {}) }));
    expect(codeOf(await call(1, replyTo(first.approval)))).toBe('result');
    expect(await call(2, replyTo(second.approval))).toMatchObject({ type: 'input_required', approval: { card: { word: 'persist' } } });
    expect(codeOf(await call(2, replyTo(second.approval, 'persist')))).toBe('result');
  });

  test('no person answered: no_channel', async () => {
    const { gate } = gateOf();
    const { id } = await ask(gate);
    const reply = { approval: id, reply: { unreachable: 'dismissed' } };
    expect(codeOf(await gate.call(request('curl example.com', { asker, reply })))).toBe('no_channel');
  });
});

describe('taint', () => {
  test('what was opened, what a tool reports and what a failure had read are origins, kept over a restart', async () => {
    const { gate } = gateOf();
    const asker = form(() => ({ decision: 'approve' }));
    const safe = (command: string): Call => ({ command, effect: 'safe' });
    await gate.call(request(safe('reads')));
    await gate.call(request(safe('fails')));
    await gate.call(request('curl example.com', { asker }));
    const { taints } = place.another();
    const inside: Opening = { type: 'path', path: '/w/.env', access: 'read' };
    const outside: Opening = { type: 'path', path: '/w2/x', access: 'read' };
    await gate.call(request({ command: 'cat .env', effect: 'install', opens: inside }, { asker }));
    await gate.call(request({ command: 'cat x', effect: 'install', opens: outside }, { asker }));
    expect(new Set(await taints.originsOf('run_1'))).toEqual(
      new Set(['web:reads.example', 'web:fails.example', 'host:example.com', 'file:/w2/x']),
    );
    expect(await taints.originsOf('run_2')).toEqual([]);
    const second = form(() => ({ decision: 'deny' }));
    await gateOf().gate.call(request('curl example.com/2', { asker: second }));
    expect(second.shown[0]?.card.origins).toContain('host:example.com');
  });

  test('Grants stop answering there, but for what came from the very hosts they open', async () => {
    const { gate, approvals, grants } = gateOf();
    const asker = form(() => ({ decision: 'approve' }));
    const owner = { ...request('x').owner, run: 'run_clean' };
    await gate.call(request('curl example.com', { asker, owner }));
    const [record] = await approvals.list({ state: 'used' });
    const scope = record?.card.grants.find(({ type }) => type === 'host');
    if (!record || !scope) throw new Error('none offered');
    await grants.make(record, scope, 60_000, { channel: 'terminal', who: 'me' });

    // What the host said arms nothing against it, in the run that asked and in a new one.
    const next = { ...owner, run: 'run_next' };
    expect(codeOf(await gate.call(request('curl example.com/3', { owner: next })))).toBe('result');
    expect(eventsOf('action.decided').at(-1)).toMatchObject({ data: { by: { grants: [expect.stringMatching(/^grt_/)] } } });
    expect(codeOf(await gate.call(request('curl example.com/4', { owner: next })))).toBe('result');
    expect(codeOf(await gate.call(request('curl example.com/5', { owner })))).toBe('result');
    // Nor does a page of it.
    await place.another().taints.add(next.run, ['web:example.com']);
    expect(codeOf(await gate.call(request('curl example.com/7', { owner: next })))).toBe('result');
    await gate.call(request({ command: 'reads', effect: 'safe' }, { owner: next }));
    expect(codeOf(await gate.call(request('curl example.com/6', { owner: next })))).toBe('no_channel');
  });
});
