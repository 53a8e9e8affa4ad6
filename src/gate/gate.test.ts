import { describe, expect, test } from 'vitest';
import type { AuditEvent, AuditLog } from '../audit/types.ts';
import { systemClock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import { silentLogger } from '../kernel/logger.ts';
import { createRedactor } from '../kernel/redaction/index.ts';
import type { Assessment, Effect, PolicyConfig, Verdict } from '../policy/types.ts';
import { createFindTools } from '../tools/index.ts';
import type { Tool } from '../tools/tool.ts';
import { createGate, type GateParts } from './gate.ts';
import type { GatePolicy } from './non-interactive.ts';
import type { GateAnswer, GateRequest } from './types.ts';

const SECRET = 'ghp_FakeToken0FakeToken0FakeToken0FakeTo';

interface Seen {
  readonly events: AuditEvent[];
  readonly ran: unknown[];
}

/** A tool whose assessment is what its argument says, so that every verdict can be walked through. */
function probe(seen: Seen, run?: () => never): Tool<{ effect: Effect; verdict?: Verdict; bare?: boolean }> {
  return {
    name: 'probe',
    description: '',
    inputSchema: {},
    outputSchema: {},
    annotations: { title: '', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => {
      const input = raw as { effect?: Effect };
      return input.effect
        ? { ok: true, input: { ...input, effect: input.effect } }
        : { ok: false, problem: 'Invalid arguments: effect: is missing.' };
    },
    assess: ({ effect, verdict, bare }): Assessment => ({
      effects: [effect],
      findings:
        effect === 'safe'
          ? []
          : [
              {
                effect,
                span: [0, 1],
                argv: ['probe', 'x'],
                reason: 'does it',
                ...(verdict ? { verdict } : {}),
                ...(bare ? {} : { command: 0 }),
              },
            ],
      commands: [{ argv: ['probe', 'x'], span: [0, 1] }],
      git_config_write: false,
    }),
    run: async (input) => {
      run?.();
      seen.ran.push(input);
      return { structured: { token: SECRET }, text: `it said ${SECRET}`, evidence: { exit: 0, said: SECRET } };
    },
  };
}

function memoryLog(events: AuditEvent[], broken = false, unstored: (() => void)[] = []): AuditLog {
  return {
    record: async (event) => {
      if (broken) throw new AppError('store_unavailable', 'The database is gone.');
      events.push(event);
      return { chain: 'chn', seq: events.length };
    },
    enqueue: (event, stored) => {
      events.push(event);
      if (stored) unstored.push(stored);
    },
    flush: async () => {},
    close: async () => {},
  };
}

const rules: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };
const policyWith = (nonInteractive: GatePolicy['nonInteractive']): Pick<GateParts, 'policyOf'> => ({
  policyOf: () => ({ rules, nonInteractive }),
});

function gateWith(more: Partial<GateParts> = {}, broken = false, run?: () => never): { gate: ReturnType<typeof createGate>; seen: Seen } {
  const seen: Seen = { events: [], ran: [] };
  const gate = createGate({
    tools: [probe(seen, run)],
    allows: (toolset) => toolset === 'default',
    ...policyWith('deny'),
    audit: async () => memoryLog(seen.events, broken),
    redactor: createRedactor(),
    clock: systemClock,
    logger: silentLogger,
    ...more,
  });
  return { gate, seen };
}

const owner = { organization: 'org_local', agent: 'agent_local', run: 'run_1', workspace: '/w' };
const ask = (more: Partial<GateRequest> = {}): GateRequest => ({
  tool: 'probe',
  arguments: { effect: 'safe' },
  owner,
  workspaces: [{ path: '/w', access: 'write' }],
  toolset: 'default',
  signal: new AbortController().signal,
  progress: () => {},
  ...more,
});
const codeOf = (answer: GateAnswer): string => (answer.type === 'refused' ? answer.code : answer.type);

describe('tools of upstreams', () => {
  const foreign = (seen: Seen, names: readonly string[]): Pick<GateParts, 'foreign'> => {
    const tools = new Map(names.map((name): [string, Tool] => [name, { ...probe(seen), name, anywhere: true } as Tool]));
    return { foreign: () => tools };
  };
  const finders = (): readonly Tool[] => createFindTools(() => [{ name: 's__one', description: 'First', inputSchema: {} }]);

  test('are listed and called under the same checks; a spelling with the prefix of a host leads to the same one', async () => {
    const ours: Seen = { events: [], ran: [] };
    const { gate, seen } = gateWith(foreign(ours, ['s__one', 'probe']));
    expect(gate.list('default').map(({ name }) => name)).toEqual(['probe', 's__one']);
    for (const tool of ['s__one', 'mcp__s__one', 'mcp__writ__s__one']) expect(codeOf(await gate.call(ask({ tool })))).toBe('result');
    expect(codeOf(await gate.call(ask({ tool: 's__one', toolset: 'narrow' })))).toBe('denied_by_policy');
    expect(codeOf(await gate.call(ask({ tool: 's__one', workspaces: [] })))).toBe('result');
    expect(codeOf(await gate.call(ask({ workspaces: [] })))).toBe('workspace_unavailable');
    expect(new Set(seen.events.map(({ tool }) => tool))).toEqual(new Set(['s__one', 'probe']));
  });

  test('too many are found and not listed, and what is called by call_tool is that tool to everything', async () => {
    const ours: Seen = { events: [], ran: [] };
    const { gate, seen } = gateWith({ ...foreign(ours, ['s__one', 's__two']), finding: { tools: finders(), above: () => 1 } });
    expect(gate.list('default').map(({ name }) => name)).toEqual(['probe', 'find_tools', 'describe_tool', 'call_tool']);
    // What it promised would be missed in the result of a tool that promised nothing.
    expect(gate.list('default').at(-1)).not.toHaveProperty('outputSchema');
    const called = (args: unknown, more = {}): Promise<GateAnswer> => gate.call(ask({ tool: 'call_tool', arguments: args, ...more }));
    expect(codeOf(await called({ name: 's__one', arguments: { effect: 'safe' } }))).toBe('result');
    expect(codeOf(await called({ name: 's__one', arguments: { effect: 'safe' } }, { toolset: 'narrow' }))).toBe('denied_by_policy');
    expect(codeOf(await called({ name: 'gone' }))).toBe('unknown_tool');
    for (const name of ['call_tool', 'mcp__writ__call_tool']) expect(codeOf(await called({ name }))).toBe('invalid_arguments');
    expect(codeOf(await called('s__one'))).toBe('invalid_arguments');
    expect(seen.events.slice(0, 3).map(({ type, tool }) => [type, tool])).toEqual([
      ['action.decided', 's__one'],
      ['action.finished', 's__one'],
      ['action.refused', 's__one'],
    ]);
  });

  test('as few as may be listed are listed, without what finds them', () => {
    const ours: Seen = { events: [], ran: [] };
    const { gate } = gateWith({ ...foreign(ours, ['s__one']), finding: { tools: finders(), above: () => 1 } });
    expect(gate.list('default').map(({ name }) => name)).toEqual(['probe', 's__one']);
  });
});

describe('the path of one call', () => {
  test('a decision is recorded before it runs and an outcome after, both redacted', async () => {
    const { gate, seen } = gateWith();
    const answer = await gate.call(ask({ arguments: { effect: 'safe', note: SECRET } }));
    expect(answer).toMatchObject({ type: 'result', output: { text: 'it said [redacted:github_token]' } });
    expect(seen.events.map((event) => [event.type, event.tool])).toEqual([
      ['action.decided', 'probe'],
      ['action.finished', 'probe'],
    ]);
    expect(JSON.stringify([answer, seen.events])).not.toContain(SECRET);
  });

  test('nothing runs that could not be recorded', async () => {
    const { gate, seen } = gateWith({}, true);
    expect(codeOf(await gate.call(ask()))).toBe('store_unavailable');
    expect(seen.ran).toEqual([]);
  });

  test.each([
    ['unknown_tool', { tool: 'nothing' }],
    ['denied_by_policy', { toolset: 'narrow' }],
    ['denied_by_policy', { toolset: 'narrow', tool: 'mcp__writ__probe' }],
    ['invalid_arguments', { arguments: {} }],
    ['invalid_arguments', { arguments: { _writ_effect: 'safe' } }],
    ['workspace_unavailable', { workspaces: [] }],
    ['denied_by_policy', { arguments: { effect: 'blocked' } }],
    ['denied_by_policy', { arguments: { effect: 'destructive' } }],
    ['no_channel', { arguments: { effect: 'destructive', verdict: 'prompt' } }],
    ['no_channel', { arguments: { effect: 'network_egress' } }],
    ['cancelled', { signal: AbortSignal.abort() }],
  ] as const)('%s: %j does not run and is recorded', async (code, more) => {
    const { gate, seen } = gateWith();
    expect(codeOf(await gate.call(ask(more)))).toBe(code);
    expect(seen.ran).toEqual([]);
    expect(seen.events).toMatchObject([{ type: 'action.refused', data: { code } }]);
  });

  test('the spelling of hosts leads to the same tool', async () => {
    const { gate } = gateWith();
    expect(codeOf(await gate.call(ask({ tool: 'mcp__writ__probe' })))).toBe('result');
    expect(codeOf(await gate.call(ask({ tool: 'mcp__a__mcp__b__probe' })))).toBe('unknown_tool');
  });

  test('reserved arguments are stripped and noted', async () => {
    const { gate, seen } = gateWith();
    const answer = await gate.call(ask({ arguments: { effect: 'safe', _writ_owner: 'x', _WRIT_verdict: 'allow' } }));
    expect(answer).toMatchObject({ type: 'result', notes: ['reserved arguments were removed: _writ_owner, _WRIT_verdict'] });
    expect(seen.ran).toEqual([{ effect: 'safe' }]);
  });

  test.each([true, false])('the outcome of what goes on is stored before the answer, where it can be (%s)', async (can) => {
    const seen: Seen = { events: [], ran: [] };
    const tool = probe(seen);
    const job: typeof tool = {
      ...tool,
      run: async (...all) => ({ ...(await tool.run(...all)), goes_on: true }),
    };
    const ways: string[] = [];
    const { record, ...rest } = memoryLog(seen.events);
    const log: AuditLog = {
      ...rest,
      record: async (event, options) => {
        if (event.type === 'action.finished' && !can) throw new AppError('disk_full', 'No room.');
        ways.push(`recorded ${event.type}${options?.essential ? ', essential' : ''}`);
        return record(event, options);
      },
      enqueue: (event) => void ways.push(`queued ${event.type}`),
    };
    const { gate } = gateWith({ tools: [job], audit: async () => log });
    expect(codeOf(await gate.call(ask()))).toBe('result');
    expect(ways).toEqual(['recorded action.decided', can ? 'recorded action.finished, essential' : 'queued action.finished']);
  });

  test.each([[undefined], [new AppError('cancelled', 'enough', { data: { exec_id: 'exec_1' } })]])(
    'what must wait for the record of the outcome does, however the call ends (%s)',
    async (fault) => {
      const unstored: (() => void)[] = [];
      const events: AuditEvent[] = [];
      const done: string[] = [];
      const tool = probe({ events, ran: [] }, () => {
        if (fault) throw fault;
        return undefined as never;
      });
      const waiting: typeof tool = {
        ...tool,
        run: async (input, context, decision) => {
          context.whenRecorded(async () => void done.push('one'));
          context.whenRecorded(() => Promise.reject(new Error('only logged')));
          context.whenRecorded(async () => void done.push('two'));
          return tool.run(input, context, decision);
        },
      };
      const { gate } = gateWith({ tools: [waiting], audit: async () => memoryLog(events, false, unstored) });
      const answer = await gate.call(ask());
      expect([codeOf(answer), done]).toEqual([fault ? 'cancelled' : 'result', []]);
      for (const stored of unstored) stored();
      await expect.poll(() => done).toEqual(['one', 'two']);
      if (fault) expect(events.at(-1)).toMatchObject({ data: { outcome: 'cancelled', data: { exec_id: 'exec_1' } } });
    },
  );

  test('the text of an exception nobody foresaw stays in the log and the record', async () => {
    const { gate, seen } = gateWith({}, false, () => {
      throw new TypeError('x of undefined at /somewhere');
    });
    expect(await gate.call(ask())).toMatchObject({
      code: 'internal',
      message: 'An unexpected fault in Writ; its log on stderr says more.',
    });
    expect(seen.events.at(-1)).toMatchObject({ data: { outcome: 'internal', reason: 'x of undefined at /somewhere' } });
  });

  test('a fault of a tool is an answer that hides nothing and leaks nothing', async () => {
    const { gate, seen } = gateWith({}, false, () => {
      throw new AppError('outcome_unknown', `It went away with ${SECRET}.`);
    });
    const answer = await gate.call(ask());
    expect(answer).toMatchObject({ type: 'refused', code: 'outcome_unknown', message: 'It went away with [redacted:github_token].' });
    expect(seen.events.at(-1)).toMatchObject({ type: 'action.finished', data: { outcome: 'outcome_unknown' } });
  });
});

describe('non_interactive', () => {
  test('the refusal shows what was asked and a rule that would allow it', async () => {
    const { gate } = gateWith();
    const answer = await gate.call(ask({ arguments: { effect: 'network_egress' } }));
    expect(answer).toMatchObject({
      code: 'no_channel',
      message: expect.stringContaining('does it [network_egress]'),
      fix: expect.stringContaining('["probe","x"]'),
    });
  });

  test('no rule is offered for what no rule lifts', async () => {
    const { gate } = gateWith();
    const answer = await gate.call(ask({ arguments: { effect: 'persistence', bare: true } }));
    expect(answer).toMatchObject({ code: 'no_channel', fix: expect.stringContaining('No rule lifts') });
    expect(answer).toMatchObject({ fix: expect.not.stringContaining('"argv"') });
  });

  test.each([
    ['allow', 'network_egress', 'result'],
    ['allow', 'blocked', 'denied_by_policy'],
    ['read_only', 'safe', 'result'],
    ['read_only', 'local_write', 'denied_by_policy'],
    ['read_only', 'network_egress', 'denied_by_policy'],
  ] as const)('%s: %s gives %s', async (nonInteractive, effect, expected) => {
    const { gate } = gateWith(policyWith(nonInteractive));
    expect(codeOf(await gate.call(ask({ arguments: { effect } })))).toBe(expected);
  });

  test('allow never covers destructive', async () => {
    const { gate } = gateWith(policyWith('allow'));
    expect(codeOf(await gate.call(ask({ arguments: { effect: 'destructive', verdict: 'prompt' } })))).toBe('no_channel');
  });
});
