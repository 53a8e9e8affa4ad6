import type { Gate, GateAnswer, ListedTool } from '../../gate/types.ts';
import { errorEntry, toAppError } from '../../kernel/errors.ts';
import { failure, INVALID_PARAMS, isObject, type Members, type Reply } from '../../kernel/json-rpc/message.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { JsonSchema } from '../../tools/tool.ts';
import { carriesNotices, NOTICES, toolReply, UNEXPECTED } from '../answers.ts';
import { askingOf, badRetry, type CallAsking, questionResult } from '../asking/call-asking.ts';
import { TOOL_META } from '../hosts.ts';
import { createProgress } from '../progress.ts';
import { createRelay } from '../relaying.ts';
import { type Features, featuresOf } from '../revisions.ts';
import type { CallScope } from '../types.ts';
import { type RequestContext, scopeOf, type WorkContext } from './context.ts';
import { CACHE, page } from './page.ts';

/** `tools/list`: sorted, so that the same catalogue is always the same bytes. */
export async function listTools({ parts, features, params }: RequestContext): Promise<Reply> {
  await parts.catalogueReady?.();
  const tools = sorted(parts.gate, parts.toolset).map((tool) => describe(tool, features));
  return withCache(features, page('tools', tools, params));
}

/** All of it, as the newest revision has it. */
export function listedTools(
  gate: Pick<Gate, 'list'>,
  toolset: string,
): readonly (Members & Pick<ListedTool, 'name' | 'description' | 'inputSchema'>)[] {
  return sorted(gate, toolset).map((tool) => {
    const { name, description, inputSchema } = tool;
    return { ...describe(tool, featuresOf('2026-07-28')), name, description, inputSchema };
  });
}

function sorted(gate: Pick<Gate, 'list'>, toolset: string): readonly ListedTool[] {
  return [...gate.list(toolset)].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function withCache(features: Features, reply: Reply): Reply {
  return 'result' in reply && features.era === 'stateless' ? { result: { ...reply.result, ...CACHE } } : reply;
}

function describe(tool: ListedTool, features: Features): Members {
  if (tool.definition !== undefined) return describeForeign(tool.definition, features);
  return {
    name: tool.name,
    ...(features.titles ? { title: tool.annotations.title, _meta: TOOL_META } : {}),
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(features.structured && tool.outputSchema !== undefined ? { outputSchema: withNotices(tool.outputSchema) } : {}),
    annotations: tool.annotations,
  };
}

/** As it came, without what the revision doesn't have. */
function describeForeign(definition: Members, features: Features): Members {
  const { title, icons, _meta, outputSchema, ...rest } = definition;
  const given = (members: Members): Members => Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
  return {
    ...rest,
    ...(features.titles ? given({ title, icons, _meta }) : {}),
    ...(features.foreignStructured === 'none' ? {} : given({ outputSchema })),
  };
}

function withNotices(schema: JsonSchema): JsonSchema {
  const properties = schema['properties'] ?? {};
  if (schema['type'] !== 'object' || !isObject(properties) || Object.hasOwn(properties, NOTICES)) return schema;
  const notices = {
    type: 'array',
    items: { type: 'string' },
    description: 'What else happened since the last answer; tell the user if it matters.',
  };
  return { ...schema, properties: { ...properties, [NOTICES]: notices } };
}

/** `tools/call`. Everything that can go wrong from here on is an answer of the gate's kind. */
export async function callTool(context: WorkContext): Promise<Reply | undefined> {
  const { params } = context;
  const { name } = params;
  if (typeof name !== 'string') return failure(INVALID_PARAMS, 'The member params.name must be a string');
  const args = params['arguments'] ?? {};
  if (!isObject(args)) return failure(INVALID_PARAMS, 'The member params.arguments must be an object');

  const badParams = badRetry(params);
  if (badParams) return badParams;
  return context.held.run(context, { tool: name, arguments: args }, (inner) => callOnce(inner, name, args));
}

async function callOnce(context: WorkContext, name: string, args: Members): Promise<Reply | undefined> {
  const { features, flight, notices } = context;
  // A host that kept the list of an earlier start calls without asking for it again.
  if (name.includes('__') && context.parts.foreign?.()?.has(name) === false) await context.parts.catalogueReady?.();
  const { answer, scope, asking } = await askGate(context, name, args);
  if (asking?.request.forged !== undefined)
    return failure(INVALID_PARAMS, 'Invalid or expired requestState: call again without it', { code: 'invalid_arguments' });
  if (answer.type === 'input_required' && scope !== undefined) {
    const question = questionResult(context, { owner: scope.owner, tool: name, arguments: args }, answer.approval, asking?.round ?? 0);
    return question === undefined ? toolReply(name, answer, features, []) : { result: question };
  }
  if (scope === undefined || !carriesNotices(answer, features)) return toolReply(name, answer, features, []);
  const told = await notices.take(scope.owner);
  if (!flight.unwanted) return toolReply(name, answer, features, told);
  notices.putBack(scope.owner, told);
  return undefined;
}

interface Asked {
  readonly answer: GateAnswer;
  /** Absent when they were never found out. */
  readonly scope?: CallScope;
  readonly asking?: CallAsking;
}

async function askGate(context: WorkContext, tool: string, args: Members): Promise<Asked> {
  const { parts, params, flight, offer, socket } = context;
  const { askedBy } = parts;
  const progress = context.progress ?? createProgress(params, parts.clock, offer);
  let scope: CallScope | undefined;
  try {
    scope = await scopeOf(context);
    const bound = { owner: scope.owner, tool, arguments: args };
    const asking = askingOf(context, bound, scope.unattended);
    const answer = await parts.gate.call({
      ...scope,
      ...asking.request,
      relay: createRelay(context, progress),
      tool,
      arguments: args,
      toolset: parts.toolset,
      signal: flight.signal,
      progress: progress.report,
      ...(askedBy && socket ? { askedBy: () => askedBy(socket) } : {}),
    });
    return { answer, scope, asking };
  } catch (thrown) {
    const answer = refusedBy(thrown, parts.logger);
    return scope === undefined ? { answer } : { answer, scope };
  } finally {
    progress.stop();
  }
}

function refusedBy(thrown: unknown, logger: Logger): GateAnswer {
  const error = toAppError(thrown);
  let { message } = error;
  if (error.code === 'internal') {
    logger.error('a tool call failed', { reason: message });
    message = UNEXPECTED;
  }
  return {
    type: 'refused',
    action: '',
    code: error.code,
    message,
    ...(error.fix === undefined ? {} : { fix: error.fix }),
    guidance: errorEntry(error.code).guidance,
  };
}
