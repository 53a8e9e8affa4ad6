import MiniSearch from 'minisearch';
import { z } from 'zod';
import { AppError } from '../kernel/errors.ts';
import { isObject } from '../kernel/json-rpc/message.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import { CALL_TOOL, type CallContext, type JsonSchema, type Tool } from './tool.ts';

/** A tool that a caller may use, as it is listed. */
export interface Findable {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonSchema;
}

/** What the caller of a call may use, without the tools of Writ. The same array as long as nothing changed. */
export type FindablesOf = (context: CallContext) => readonly Findable[];

const MOST = 50;
const SHORT = 300;

const findInput = z.strictObject({
  query: z.string().min(1).max(1_000).describe('What you want to do, in a few words.'),
  limit: z.int().min(1).max(MOST).optional().describe(`How many to show; default 10, at most ${MOST}.`),
});
const findOutput = z.object({
  tools: z.array(z.object({ name: z.string(), description: z.string() })),
  all: z.number().describe('How many tools there are in all.'),
});
const describeInput = z.strictObject({ name: z.string().min(1).max(256) });
const describeOutput = z.looseObject({ name: z.string(), description: z.string(), inputSchema: z.looseObject({}) });
const callInput = z.strictObject({ name: z.string().min(1).max(256), arguments: z.looseObject({}).optional() });

const READING = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** For catalogues that are too big to be listed: search, look, call. The call is that of the tool itself, at the gate and in the record. */
export function createFindTools(findables: FindablesOf): readonly Tool[] {
  const indexes = new WeakMap<readonly Findable[], MiniSearch>();

  function indexOf(tools: readonly Findable[]): MiniSearch {
    const known = indexes.get(tools);
    if (known !== undefined) return known;
    const index = new MiniSearch({
      idField: 'name',
      fields: ['words', 'description', 'arguments'],
      searchOptions: { boost: { words: 3 }, prefix: true, fuzzy: 0.2 },
    });
    index.addAll(
      tools.map((tool) => ({
        name: tool.name,
        words: spelt(tool.name),
        description: tool.description,
        arguments: argumentsOf(tool.inputSchema),
      })),
    );
    indexes.set(tools, index);
    return index;
  }

  const find: Tool<z.infer<typeof findInput>> = {
    name: 'find_tools',
    anywhere: true,
    description:
      'Search the tools of the connected MCP servers. There are too many to list; search by what you want to do, then call one with call_tool.',
    inputSchema: wireSchema(findInput, 'input'),
    outputSchema: wireSchema(findOutput, 'output'),
    annotations: { title: 'Find tools', ...READING },
    parse: (raw) => parseWith(findInput, raw),
    assess: () => readsOnly,
    async run({ query, limit = 10 }, context) {
      const tools = findables(context);
      const byName = new Map(tools.map((tool) => [tool.name, tool]));
      const found = indexOf(tools)
        .search(query)
        .slice(0, limit)
        .flatMap(({ id }) => byName.get(String(id)) ?? [])
        .map(({ name, description }) => ({ name, description: cut(description) }));
      const text = found.map(({ name, description }) => `${name}: ${description}`).join('\n');
      return {
        structured: { tools: found, all: tools.length },
        text: `${text === '' ? 'Nothing fits.' : text}\n(${found.length} of ${tools.length} tools; describe_tool shows one in full)`,
        evidence: { found: found.length, all: tools.length },
      };
    },
  };

  const describe: Tool<z.infer<typeof describeInput>> = {
    name: 'describe_tool',
    anywhere: true,
    description: 'Show one tool of the connected MCP servers in full, with the arguments it takes.',
    inputSchema: wireSchema(describeInput, 'input'),
    outputSchema: wireSchema(describeOutput, 'output'),
    annotations: { title: 'Describe a tool', ...READING },
    parse: (raw) => parseWith(describeInput, raw),
    assess: () => readsOnly,
    async run({ name }, context) {
      const tool = findables(context).find((one) => one.name === name);
      if (tool === undefined)
        throw new AppError('unknown_tool', `There is no tool named "${name}" to be found here.`, { fix: 'Use find_tools.' });
      const { description, inputSchema } = tool;
      return {
        structured: { name, description, inputSchema },
        text: `${name}: ${description}\nArguments (JSON Schema): ${JSON.stringify(inputSchema)}`,
        evidence: { name },
      };
    },
  };

  const call: Tool<z.infer<typeof callInput>> = {
    name: CALL_TOOL,
    anywhere: true,
    description: 'Call a tool that find_tools has shown, with the arguments that describe_tool says it takes.',
    inputSchema: wireSchema(callInput, 'input'),
    annotations: { title: 'Call a tool', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    parse: (raw) => parseWith(callInput, raw),
    assess: () => readsOnly,
    // The gate makes the call of the other tool out of it; what comes here has no name that could be called.
    run: () => Promise.reject(new AppError('invalid_arguments', 'The argument name must be the name of another tool.')),
  };

  return [find, describe, call] as readonly Tool[];
}

/** `getUserById` and `get_user_by_id` are found by their words. */
function spelt(name: string): string {
  return name.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replace(/[_-]+/g, ' ');
}

function argumentsOf(schema: JsonSchema): string {
  const { properties } = schema;
  if (!isObject(properties)) return '';
  return Object.entries(properties)
    .map(
      ([name, value]) =>
        `${spelt(name)} ${isObject(value) && typeof value['description'] === 'string' ? value['description'].slice(0, SHORT) : ''}`,
    )
    .join(' ');
}

function cut(text: string): string {
  return text.length <= SHORT ? text : `${text.slice(0, SHORT).toWellFormed()}...`;
}
