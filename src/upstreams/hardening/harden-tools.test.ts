import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type HardenedTool, hardenTools } from './harden-tools.ts';

type Json = Record<string, unknown>;
interface Case {
  readonly id: string;
  readonly server: string;
  readonly tool: Json;
  readonly after?: readonly { readonly server: string; readonly name: string }[];
  readonly generate?: { readonly kind: string; readonly into: string; readonly depth: number; readonly bytes: number };
  readonly expect: HardenedTool['type'];
  readonly retired?: string;
}
const cases = readFileSync(new URL('../../../test/corpora/tools.jsonl', import.meta.url), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
  .filter(({ retired }) => retired === undefined);
const BUILTINS = ['shell', 'read_file', 'write_file', 'search_files', 'patch', 'browser'];

/** As test/corpora says in tools.jsonl's description: the member that is built first. */
function generated({ kind, depth, bytes }: NonNullable<Case['generate']>): Json {
  if (kind === 'pad') {
    const schema = { type: 'object', 'x-pad': '' };
    return { ...schema, 'x-pad': 'a'.repeat(bytes - JSON.stringify(schema).length) };
  }
  if (kind === 'fanout') {
    const $defs: Json = { [`d${depth}`]: { type: 'string' } };
    for (let i = 0; i < depth; i++) {
      const $ref = `#/$defs/d${i + 1}`;
      $defs[`d${i}`] = { type: 'object', properties: { a: { $ref }, b: { $ref } } };
    }
    return { type: 'object', properties: { a: { $ref: '#/$defs/d0' } }, $defs };
  }
  let schema: Json = { type: 'string' };
  for (let i = 0; i < depth; i++)
    schema = kind === 'nest' ? { type: 'object', properties: { a: schema } } : { type: 'array', items: schema };
  return kind === 'nest' ? schema : { type: 'object', properties: { a: schema } };
}

function judge({ server, tool, after = [], generate }: Case): { readonly given: Json; readonly verdict: HardenedTool | undefined } {
  const given = generate === undefined ? tool : { ...tool, [generate.into]: generated(generate) };
  const before = after.filter((each) => each.server === server).map(({ name }) => ({ name, inputSchema: { type: 'object' } }));
  const taken = after.filter((each) => each.server !== server).map((each) => `${each.server}__${each.name}`);
  return { given, verdict: hardenTools({ server, tools: [...before, given], builtins: BUILTINS, taken }).at(-1) };
}

test('every tool of the case file is accepted, flagged or refused as it says', () => {
  expect(cases.length).toBe(69);
  const wrong = cases.flatMap((each) => {
    const { verdict } = judge(each);
    return verdict?.type === each.expect ? [] : [{ id: each.id, wanted: each.expect, verdict }];
  });
  expect(wrong).toEqual([]);
});

test('what is accepted is handed on as it came', () => {
  for (const each of cases.filter((one) => one.expect === 'accept')) {
    const { given, verdict } = judge(each);
    expect({ id: each.id, definition: verdict?.type === 'accept' ? JSON.stringify(verdict.definition) : undefined }).toEqual({
      id: each.id,
      definition: JSON.stringify(given),
    });
  }
});
