import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { createGate } from '../../../src/gate/index.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLogger } from '../../../src/kernel/logger.ts';
import { createRedactor } from '../../../src/kernel/redaction/index.ts';
import { serveStdio } from '../../../src/mcp/index.ts';
import type { Effect } from '../../../src/policy/types.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { Findings } from '../kit/findings.ts';
import type { Random } from '../kit/random.ts';
import { createAnswers } from './answers.ts';
import { createDue } from './due.ts';
import { mutateFrame } from './mutate.ts';
import { handshake, type Json, seedFrames } from './seeds.ts';

/** The real MCP room over the real gate; only the tools are cheap. */

const CALLS: readonly Json[] = [
  { name: 'echo', arguments: { text: 'hello', effect: 'safe' }, _meta: { progressToken: 1 } },
  { name: 'echo', arguments: { text: 'hello', effect: 'network_egress' } },
  { name: 'mcp__writ__echo', arguments: { text: 'é𝒳', effect: 'blocked', _writ_owner: 'me' } },
  { name: 'wait', arguments: { text: 'x', effect: 'safe' }, _meta: { progressToken: 'p' } },
  { name: 'fail', arguments: { text: 'x', effect: 'safe' } },
  { name: 'nothing' },
];
export const SEEDS = seedFrames(CALLS);

const HANG_MS = 30_000;
const EFFECTS = new Set<unknown>(['safe', 'local_write', 'network_egress', 'destructive', 'blocked'] satisfies Effect[]);
const SHAPE = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'], additionalProperties: true };

interface Input {
  readonly text: string;
  readonly effect: Effect;
}

function tools(waiting: Set<() => void>): readonly Tool<Input>[] {
  const tool = (name: string, run: Tool<Input>['run']): Tool<Input> => ({
    name,
    description: name,
    inputSchema: SHAPE,
    outputSchema: SHAPE,
    annotations: { title: name, readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => {
      const { text, effect } = raw as { text?: unknown; effect?: unknown };
      return typeof text === 'string' && EFFECTS.has(effect)
        ? { ok: true, input: { text, effect: effect as Effect } }
        : { ok: false, problem: 'Invalid arguments.' };
    },
    assess: ({ text, effect }) => ({
      effects: [effect],
      findings: [{ effect, span: [0, text.length], argv: [text], reason: 'it was asked for' }],
      commands: [{ argv: [text], span: [0, text.length] }],
      git_config_write: false,
    }),
    run,
  });
  const output = (text: string): Awaited<ReturnType<Tool['run']>> => ({
    structured: { text },
    text,
    evidence: { characters: text.length },
  });
  return [
    tool('echo', async ({ text }) => output(text)),
    tool('fail', () => Promise.reject(new Error('it went wrong'))),
    tool('wait', ({ text }, { signal, progress }) => {
      progress('waiting');
      return new Promise((resolve) => {
        const done = (): void => {
          waiting.delete(done);
          resolve(output(text));
        };
        waiting.add(done);
        if (signal.aborted) done();
        else signal.addEventListener('abort', done, { once: true });
      });
    }),
  ];
}

/** One connection of `count` frames. What is wrong goes to `findings`. */
export async function runSession(count: number, random: Random, findings: Findings, name: string): Promise<{ readonly lines: number }> {
  const waiting = new Set<() => void>();
  const events = { recorded: 0 };
  const gate = createGate({
    tools: tools(waiting) as readonly Tool[],
    allows: () => true,
    policyOf: () => ({ rules: { classes: {}, deny: [], prompt: [], allow: [] }, nonInteractive: 'deny' }),
    audit: async () => ({
      record: async () => ({ chain: 'chain', seq: ++events.recorded }),
      enqueue: () => {},
      flush: async () => {},
      close: async () => {},
    }),
    redactor: createRedactor(),
    clock: systemClock,
    logger: silentLogger,
  });
  const input = new PassThrough();
  const output = new PassThrough();
  const asksForRoots = random.chance(0.3);
  const owner = { organization: 'org', agent: 'agent', run: name, workspace: '/w' };
  const server = serveStdio({
    input,
    output,
    gate,
    toolset: 'default',
    server: { name: 'writ', title: 'Writ', version: '0.0.0' },
    instructions: 'Use echo.',
    clock: systemClock,
    logger: silentLogger,
    async scopeOf(peer) {
      if (asksForRoots) await peer.roots();
      return { owner, workspaces: [{ path: '/w', access: 'write' }] };
    },
    pendingNotices: async () => (random.chance(0.1) ? ['a job has ended'] : []),
    resources: { list: async () => [], read: async (_scope, _id, cursor) => (cursor > 0 ? undefined : { text: 'all of it' }) },
  });
  const due = createDue();
  const answers = createAnswers(findings, name);
  output.on('data', (chunk: Buffer) => answers.read(chunk));

  const send = (bytes: Buffer): void => {
    due.read(bytes);
    for (let from = 0; from < bytes.length; ) {
      const to = random.chance(0.9) ? bytes.length : from + 1 + random.below(bytes.length - from);
      input.write(bytes.subarray(from, to));
      from = to;
    }
  };
  if (random.chance(0.8)) send(line(handshake(random.pick(['2025-11-25', '2025-06-18', '2025-03-26', '2025-03-26']))));
  for (let frame = 0; frame < count; frame++) {
    send(mutateFrame(named(random.pick(SEEDS), frame, random), SEEDS, random));
    if (random.chance(0.2)) for (const done of [...waiting].slice(0, random.below(4))) done();
    if (random.chance(0.1)) await setImmediate();
    for (const { id } of answers.asked()) if (random.chance(0.7)) send(line({ jsonrpc: '2.0', id: id as string, result: { roots: [] } }));
  }
  due.end();
  input.end();
  const ended = await endsWithin(server.closed, HANG_MS);
  if (!ended) findings.add('a session hangs', name);
  await setImmediate();
  answers.compare(due);
  if (waiting.size > 0) findings.add('a call was left running', name);
  return { lines: answers.lines };
}

async function endsWithin(work: Promise<void>, ms: number): Promise<boolean> {
  const late = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => late.resolve(false), ms);
  const ended = await Promise.race([work.then(() => true), late.promise]);
  clearTimeout(timer);
  return ended;
}

/** Most requests get an id of their own, some one that is used already: a client may, although it must not. */
export function named(frame: Json, number: number, random: Random): Json {
  if (Array.isArray(frame)) return frame.map((item, index) => named(item, number * 100 + index, random));
  if (typeof frame !== 'object' || frame === null || !('method' in frame) || !('id' in frame)) return frame;
  const id = random.chance(0.85) ? number : random.pick<Json>([`${number}`, `wait-${random.below(3)}`, random.below(number + 1)]);
  return { ...frame, id };
}

function line(value: Json): Buffer {
  return Buffer.from(`${JSON.stringify(value)}\n`);
}
