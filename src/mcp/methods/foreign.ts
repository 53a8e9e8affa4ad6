import { failure, INVALID_PARAMS, isObject, METHOD_NOT_FOUND, type Members, type Reply } from '../../kernel/json-rpc/message.ts';
import { refusalError } from '../answers.ts';
import { badRetry } from '../asking/call-asking.ts';
import { createRelay } from '../relaying.ts';
import type { Foreign } from '../types.ts';
import { type RequestContext, scopeOf, type WorkContext } from './context.ts';
import { page } from './page.ts';
import { withCache } from './tools.ts';

/** What an upstream is asked beside its tools is an Action of its own, under the name that the gate knows it by. */
export async function askForeign(context: WorkContext, tool: string, args: Members, notFound: number): Promise<Reply> {
  const badParams = badRetry(context.params);
  if (badParams) return badParams;
  const reply = await context.held.run(context, { tool, arguments: args }, (inner) => askOnce(inner, tool, args, notFound));
  return reply ?? { result: {} };
}

async function askOnce(context: WorkContext, tool: string, args: Members, notFound: number): Promise<Reply> {
  const { parts, flight, features } = context;
  const scope = await scopeOf(context);
  const answer = await parts.gate.call({
    ...scope,
    tool,
    arguments: args,
    toolset: parts.toolset,
    relay: createRelay(context),
    signal: flight.signal,
    progress() {},
  });
  if (answer.type === 'result') {
    const { structured: result, task } = answer.output.foreign ?? {};
    // Its ttlMs is that of the task, and not how long the answer may be kept.
    if (task !== undefined) return { result: task };
    return withCache(features, { result: isObject(result) ? result : {} });
  }
  if (answer.type === 'input_required') return failure(METHOD_NOT_FOUND, "This needs a person's yes, and nobody can be asked about it");
  return answer.code === 'not_found'
    ? failure(notFound, answer.message, 'uri' in args ? { uri: args['uri'] } : undefined)
    : refusalError(answer);
}

/** `prompts/list` */
export async function listPrompts({ parts, features, params }: RequestContext): Promise<Reply> {
  await parts.catalogueReady?.();
  return withCache(features, page('prompts', (await parts.foreign?.()?.prompts()) ?? [], params));
}

/** `prompts/get` */
export function getPrompt(context: WorkContext): Promise<Reply> {
  const { name, arguments: args } = context.params;
  return ofForeign(context, ({ tools }) => ({ tool: tools.prompt, args: { name, ...(args === undefined ? {} : { arguments: args }) } }));
}

/** `completion/complete` */
export function complete(context: WorkContext): Promise<Reply> {
  const { ref, argument, context: known } = context.params;
  return ofForeign(context, ({ tools }) => ({
    tool: tools.completion,
    args: { ref, argument, ...(known === undefined ? {} : { context: known }) },
  }));
}

/** `tasks/get`, `tasks/update`, `tasks/cancel` of the extension `io.modelcontextprotocol/tasks`. */
export function askTask(ask: 'get' | 'update' | 'cancel'): (context: WorkContext) => Promise<Reply> {
  return (context) => {
    const { taskId, inputResponses } = context.params;
    const args = { ask, taskId, ...(ask === 'update' ? { inputResponses } : {}) };
    return ofForeign(context, ({ tools }) => ({ tool: tools.task, args }));
  };
}

async function ofForeign(
  context: WorkContext,
  asked: (foreign: Foreign) => { readonly tool: string; readonly args: Members },
): Promise<Reply> {
  const foreign = context.parts.foreign?.();
  if (foreign === undefined) return failure(METHOD_NOT_FOUND, 'Method not found');
  const { tool, args } = asked(foreign);
  return askForeign(context, tool, args, INVALID_PARAMS);
}
