import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic } from './anthropic.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { type Body, type Call, type Offered, type Seen, sendJson, type Turn, type Wire } from './wire.ts';

const WIRES: readonly Wire[] = [anthropic, openaiChat, openaiResponses, gemini];

/** What the model does: a call, and the next one when it has seen the result. Run afresh for every request, so it must depend on the results alone. */
export type Script = () => Generator<Call, void, Seen>;

export interface Exchange extends Seen {
  readonly call: Call;
}

export interface ScriptedModel {
  readonly url: string;
  /** The longest conversation so far. */
  readonly exchanges: readonly Exchange[];
  /** Whether the script came to its end. */
  readonly finished: boolean;
  /** Why it could not go on. */
  readonly trouble: string | undefined;
  /** Every tool the host has offered. */
  readonly offered: readonly Offered[];
  /** Whether some request held this text. */
  wasTold(text: string): boolean;
  /** From here on another conversation, with this script; nothing is known of the one before. */
  restart(script: Script): void;
  close(): Promise<void>;
}

/** A stand-in for a model service on loopback, which drives a real agent host through a script. Requests without tools (titles, summaries) get an "ok". */
export async function startModel(first: Script): Promise<ScriptedModel> {
  let script = first;
  let exchanges: readonly Exchange[] = [];
  let finished = false;
  let trouble: string | undefined;
  const offered = new Map<string, Offered>();
  const bodies: string[] = [];

  function nextTurn(tools: readonly Offered[], results: readonly Seen[]): Turn {
    if (tools.length === 0) return { type: 'words', text: 'ok' };
    const { done, next } = replay(script, results);
    if (done.length >= exchanges.length) exchanges = done;
    if (next === undefined) {
      finished = true;
      return { type: 'words', text: 'The script is at its end.' };
    }
    for (const call of next.otherwise === undefined ? [next] : [next, next.otherwise]) {
      const tool = pick(tools, call);
      if (tool !== undefined) return { type: 'call', index: done.length, tool, args: call.args };
    }
    trouble = `the host offers no tool ${next.tool}, only ${tools.map(({ name }) => name).join(', ')}`;
    return { type: 'words', text: trouble };
  }

  const server = createServer(async (request, response) => {
    const path = (request.url ?? '').split('?', 1)[0] ?? '';
    let text = '';
    for await (const chunk of request.setEncoding('utf8')) text += chunk;
    const wire = WIRES.find((each) => each.path.test(path));
    if (request.method === 'POST' && wire !== undefined) {
      bodies.push(text);
      const body = JSON.parse(text) as Body;
      const tools = wire.offered(body);
      for (const tool of tools) offered.set(`${tool.namespace ?? ''} ${tool.name}`, tool);
      wire.answer(response, body, nextTurn(tools, wire.results(body)), path);
    } else if (path.endsWith('/models')) sendJson(response, { object: 'list', data: [{ id: 'scripted', object: 'model' }] });
    else if (/count_?tokens$/i.test(path)) sendJson(response, { input_tokens: 10, totalTokens: 10 });
    else sendJson(response, { error: { type: 'not_found_error', message: `no such path: ${path}` } }, 404);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get exchanges() {
      return exchanges;
    },
    get finished() {
      return finished;
    },
    get trouble() {
      return trouble;
    },
    get offered() {
      return [...offered.values()];
    },
    wasTold: (wanted) => bodies.some((body) => body.includes(JSON.stringify(wanted).slice(1, -1))),
    restart(next) {
      [script, exchanges, finished, trouble] = [next, [], false, undefined];
      offered.clear();
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Where the script stands after these results. */
function replay(script: Script, results: readonly Seen[]): { readonly done: readonly Exchange[]; readonly next: Call | undefined } {
  const steps = script();
  const done: Exchange[] = [];
  let step = steps.next();
  for (const result of results) {
    if (step.done === true) break;
    done.push({ call: step.value, ...result });
    step = steps.next(result);
  }
  return { done, next: step.done === true ? undefined : step.value };
}

/** Hosts put a prefix before the names of a server's tools (`mcp__writ__shell`, `writ_shell`) or group them in a namespace (`mcp__writ`). */
export function isOfWrit({ name, namespace }: Offered): boolean {
  return namespace === undefined ? /(^|_)writ_/.test(name) : /(^|_)writ$/.test(namespace);
}

function pick(tools: readonly Offered[], { tool: name, of }: Call): Offered | undefined {
  if (of === 'host') return tools.find((tool) => tool.name === name);
  return tools.find((tool) => isOfWrit(tool) && (tool.name === name || tool.name.endsWith(`_${name}`)));
}
