import type { ApprovalRecord, Reply } from '../../src/approvals/types.ts';
import type { Gate, GateAnswer, GateRequest, Unreachable } from '../../src/gate/types.ts';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';

/** A gate without anything behind it: what each tool does is in its arguments. */

export const OWNER = { organization: 'org', agent: 'agent', run: 'run', workspace: 'ws' };

/** What `ask` asks. It never ends in a test. */
export const QUESTION: ApprovalRecord = {
  id: 'appr_01k0000000000000000000',
  state: 'pending',
  digest: 'sha256:1',
  owner: OWNER,
  card: {
    tool: 'ask',
    what: 'curl https://example.com/x',
    cwd: '/ws',
    workspace: '/ws',
    agent: 'agent',
    effects: ['network_egress'],
    reasons: ['talks to example.com'],
    opens: [{ type: 'hosts', hosts: ['example.com'], presets: [] }],
    origins: [],
    grants: [],
  },
  asked_by: { boot_id: 'boot', pid: 1, start: '1' },
  created_at: 0,
  expires_at: 4_000_000_000_000,
};

const ANNOTATIONS = { title: 'Echo', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const OUTPUT = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { echo: { type: 'string' } },
  required: ['echo'],
  additionalProperties: false,
};

const TOOLS = ['wait', 'echo', 'refuse', 'throw', 'huge', 'broken'].map((name) => ({
  name,
  description: `${name} for tests`,
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  outputSchema: OUTPUT,
  annotations: ANNOTATIONS,
}));

export interface FakeGate extends Gate {
  readonly seen: GateRequest[];
  /** Ends the oldest waiting `wait`. */
  release(): void;
  readonly waiting: number;
  /** A person answers elsewhere what `ask` asks: the question is over. */
  answerElsewhere(): void;
  /** What `ask` asks from now on. */
  question: ApprovalRecord;
}

export function createFakeGate(): FakeGate {
  const seen: GateRequest[] = [];
  const releases: (() => void)[] = [];

  function result(echo: string, notes: readonly string[] = []): GateAnswer {
    return {
      type: 'result',
      action: 'act_1',
      output: { structured: { echo }, text: `echo: ${echo}`, evidence: {} },
      decision: { verdict: 'allow', effects: ['safe'], findings: [], opens: [], git_config_write: false },
      notes,
    };
  }

  function refused(code: ErrorCode, fix?: string): GateAnswer {
    const { guidance } = ERRORS[code];
    return { type: 'refused', action: 'act_2', code, message: `It is ${code}.`, guidance, ...(fix === undefined ? {} : { fix }) };
  }

  function wait(request: GateRequest): Promise<GateAnswer> {
    return new Promise((resolve) => {
      const release = (): void => resolve(result(String((request.arguments as { text?: unknown }).text)));
      releases.push(release);
      request.signal.addEventListener('abort', () => {
        releases.splice(releases.indexOf(release), 1);
        resolve(refused('cancelled'));
      });
    });
  }

  const elsewhere = new Set<AbortController>();

  /** As the gate does it, without a policy, a store or other ways to a person. */
  async function ask(request: GateRequest): Promise<GateAnswer> {
    if (request.forged !== undefined) return refused('invalid_arguments', request.forged);
    if (request.reply !== undefined) {
      const { reply } = request.reply;
      const { word } = gate.question.card;
      if ('unreachable' in reply || reply.decision === 'deny' || reply.word === word) return settled(reply);
      if (request.asker?.type !== 'with_answer') return settled({ unreachable: 'the word was not typed' });
      return { type: 'input_required', action: 'act_3', approval: gate.question };
    }
    const isAll = gate.question.card.opens.some(({ type }) => type === 'uncontained');
    const asker = isAll && !request.asker?.page ? request.asker?.on_page : request.asker;
    if (asker === undefined) return refused('approval_pending');
    if (asker.type === 'with_answer') return { type: 'input_required', action: 'act_3', approval: gate.question };
    const over = new AbortController();
    elsewhere.add(over);
    const signal = AbortSignal.any([over.signal, request.signal]);
    const reply = await asker.ask(gate.question, signal);
    elsewhere.delete(over);
    if (request.signal.aborted) return refused('cancelled');
    return over.signal.aborted ? result('approved elsewhere') : settled(reply);
  }

  function settled(reply: Reply | Unreachable): GateAnswer {
    if ('unreachable' in reply) return refused('no_channel', reply.unreachable);
    return reply.decision === 'approve' ? result(JSON.stringify(reply)) : refused('denied_by_human', JSON.stringify(reply));
  }

  const gate: FakeGate = {
    question: QUESTION,
    answerElsewhere: () => {
      for (const each of elsewhere) each.abort();
    },
    seen,
    get waiting() {
      return releases.length;
    },
    release: () => releases.shift()?.(),
    list: () => TOOLS,
    async call(request) {
      seen.push(request);
      const { text = '', notes = [] } = request.arguments as { text?: string; notes?: string[] };
      switch (request.tool) {
        case 'echo':
          return result(text, notes);
        case 'ask':
          return ask(request);
        case 'elicit':
          await request.relay?.ask('elicitation/create', { message: text }, request.signal);
          return result('asked');
        case 'wait':
          request.progress(`waiting for ${text}`);
          return wait(request);
        case 'refuse':
          return refused(text as ErrorCode, 'Do the thing.');
        case 'throw':
          throw new Error('token=hunter2 went wrong');
        case 'huge':
          return result('x'.repeat(Number(text)));
        case 'broken': {
          const loop: Record<string, unknown> = {};
          loop['loop'] = loop;
          return { ...result(''), output: { structured: loop, text: '', evidence: {} } } as GateAnswer;
        }
        default:
          return refused('unknown_tool');
      }
    },
  };
  return gate;
}
