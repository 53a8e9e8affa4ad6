import { isObject } from '../kernel/json-rpc/message.ts';
import type { CatalogueTool } from './app.ts';

/** Whose form a list of tools is printed in. */
export type ToolFormat = keyof typeof TOOL_FORMATS;

/** A list of tools as an API takes it, and what that API makes of it, in words. */
interface Formatted {
  readonly value: unknown;
  readonly notes: readonly string[];
}

/** What the API takes of a function's description; a longer one fails the whole request. */
const OPENAI_DESCRIPTION = 1_024;
const OPENAI_TOOLS = 128;

export const TOOL_FORMATS = {
  /** Chat Completions; the Responses API takes the members of `function` beside `type`. */
  openai: (tools: readonly CatalogueTool[]): Formatted => ({
    value: tools.map(({ name, description, inputSchema }) => ({
      type: 'function',
      function: { name, description: cut(description), parameters: inputSchema, strict: fitsStrict(inputSchema) },
    })),
    notes: [
      ...(tools.length > OPENAI_TOOLS ? [`${tools.length} tools are more than the ${OPENAI_TOOLS} of one request: choose a toolset`] : []),
      ...refusedSchemas(tools),
      ...tools.flatMap(({ name, description }) =>
        description.length > OPENAI_DESCRIPTION
          ? [`${name}: the description has ${description.length} characters and was cut to ${OPENAI_DESCRIPTION}`]
          : [],
      ),
    ],
  }),
  anthropic: (tools: readonly CatalogueTool[]): Formatted => ({
    value: tools.map(({ name, description, inputSchema }) => ({ name, description, input_schema: inputSchema })),
    notes: refusedSchemas(tools),
  }),
  /** The result of `tools/list`. */
  mcp: (tools: readonly CatalogueTool[]): Formatted => ({ value: { tools }, notes: [] }),
} as const;

function cut(description: string): string {
  if (description.length <= OPENAI_DESCRIPTION) return description;
  return `${description.slice(0, OPENAI_DESCRIPTION - 3).toWellFormed()}...`;
}

/** Both APIs want an object, and neither takes a choice in its place. */
function refusedSchemas(tools: readonly CatalogueTool[]): readonly string[] {
  return tools.flatMap(({ name, inputSchema }) => {
    const choice = ['oneOf', 'anyOf', 'allOf', 'enum', 'not'].find((keyword) => Object.hasOwn(inputSchema, keyword));
    return choice === undefined ? [] : [`${name}: the API refuses a schema with ${choice} at its top`];
  });
}

const STRICT_KEYWORDS: ReadonlySet<string> = new Set([
  ...['type', 'properties', 'required', 'additionalProperties', 'items', 'enum', 'const', 'anyOf'],
  ...['description', 'title'],
]);

/**
 * Whether OpenAI's `strict` can hold the model to this schema: every object closed, every property required, and only keywords that are known
 * to be taken. Everything else is `false`, which is always taken; Writ checks the arguments of every call in any case.
 */
export function fitsStrict(schema: unknown, top = true): boolean {
  if (!isObject(schema) || !Object.keys(schema).every((keyword) => STRICT_KEYWORDS.has(keyword))) return false;
  const { type, properties = {}, required = [], additionalProperties, items, anyOf } = schema;
  if (top && (type !== 'object' || anyOf !== undefined)) return false;
  if (type === 'object') {
    if (!isObject(properties) || additionalProperties !== false || !Array.isArray(required)) return false;
    if (!Object.entries(properties).every(([name, each]) => required.includes(name) && fitsStrict(each, false))) return false;
  }
  if (type === 'array' && !fitsStrict(items, false)) return false;
  if (anyOf !== undefined) return Array.isArray(anyOf) && anyOf.every((each) => fitsStrict(each, false));
  return type !== undefined || schema['enum'] !== undefined || schema['const'] !== undefined;
}
