import { describe, expect, test } from 'vitest';
import { fitsStrict, TOOL_FORMATS } from './tool-formats.ts';

const open = { type: 'object', properties: { text: { type: 'string' } } };
const closed = { ...open, required: ['text'], additionalProperties: false };
const tool = (inputSchema: Record<string, unknown> = open, description = 'Says it') => ({ name: 'say', description, inputSchema });

test('each API gets its own form, and the schema as it is', () => {
  expect(TOOL_FORMATS.openai([tool()]).value).toEqual([
    { type: 'function', function: { name: 'say', description: 'Says it', parameters: open, strict: false } },
  ]);
  expect(TOOL_FORMATS.anthropic([tool()]).value).toEqual([{ name: 'say', description: 'Says it', input_schema: open }]);
  expect(TOOL_FORMATS.mcp([tool()]).value).toEqual({ tools: [tool()] });
});

test('what an API would refuse is cut or said', () => {
  const long = TOOL_FORMATS.openai([tool(open, 'x'.repeat(2_000))]);
  const [first] = long.value as { function: { description: string } }[];
  expect(first?.function.description).toHaveLength(1_024);
  expect(long.notes).toEqual([expect.stringContaining('2000 characters')]);
  const many = TOOL_FORMATS.openai(Array.from({ length: 129 }, () => tool()));
  expect(many.notes).toEqual([expect.stringContaining('129 tools')]);
  for (const format of ['openai', 'anthropic'] as const)
    expect(TOOL_FORMATS[format]([tool({ type: 'object', oneOf: [] })]).notes).toEqual([expect.stringContaining('oneOf')]);
  expect(TOOL_FORMATS.anthropic([tool(open, 'x'.repeat(2_000))]).notes).toEqual([]);
});

describe('strict is claimed only where it holds', () => {
  test.each([
    ['closed, all required', closed, true],
    ['nothing in it', { type: 'object', properties: {}, additionalProperties: false }, true],
    ['nested', { ...closed, properties: { text: { type: 'array', items: closed } } }, true],
    ['a choice below', { ...closed, properties: { text: { anyOf: [{ type: 'string' }, { type: 'null' }] } } }, true],
    ['open', { ...closed, additionalProperties: true }, false],
    ['nothing said about more', { ...open, required: ['text'] }, false],
    ['optional', { ...closed, required: [] }, false],
    ['open below', { ...closed, properties: { text: { type: 'array', items: open } } }, false],
    ['items of any kind', { ...closed, properties: { text: { type: 'array' } } }, false],
    ['a keyword that is not known', { ...closed, properties: { text: { type: 'string', format: 'hostname' } } }, false],
    ['a choice at the top', { anyOf: [closed] }, false],
    ['anything', { ...closed, properties: { text: {} } }, false],
    ['no schema', true, false],
  ] as const)('%s', (_, schema, fits) => {
    expect(fitsStrict(schema)).toBe(fits);
  });
});
