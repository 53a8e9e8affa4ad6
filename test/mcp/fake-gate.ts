import type { Gate, GateAnswer, GateRequest } from '../../src/gate/types.ts';
import { ERRORS, type ErrorCode } from '../../src/kernel/errors.ts';

/** A gate without anything behind it: what each tool does is in its arguments. */

export const OWNER = { organization: 'org', agent: 'agent', run: 'run', workspace: 'ws' };

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

  return {
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
}
