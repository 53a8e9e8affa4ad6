import { isObject } from '../../kernel/json-rpc/message.ts';
import type { ParamHeader } from '../../kernel/json-rpc/param-headers.ts';
import { visible } from '../../kernel/visible.ts';
import type { JsonObject } from '../types.ts';
import { contradictions, findAnnotationProblem } from './annotations.ts';
import { type Flagged, judgeTexts } from './judge-texts.ts';
import { badName, exposedName } from './names.ts';
import { readParamHeaders } from './param-headers.ts';
import { deeperThan, findSchemaProblem } from './schema.ts';

/** Of one server; what comes after is refused. Models can't choose among more, and every one is kept. */
export const MAX_TOOLS = 2_000;
/** Of one definition but its schemas: description, title, icons, `_meta` and what is unknown. */
const MAX_REST_BYTES = 256 * 1024;
/** The protocol knows nine. */
const MAX_MEMBERS = 64;
/** So that hashing it never meets a limit of its own (canonical-json.ts). */
const MAX_DEFINITION_DEPTH = 62;

export interface HardenInput {
  /** Name of the upstream. */
  readonly server: string;
  /** In front of its tools' names; empty: none. Default: the server's name. */
  readonly prefix?: string;
  /** What `tools/list` gave, in its order. */
  readonly tools: readonly unknown[];
  /** Names of the tools of Writ itself. */
  readonly builtins: Iterable<string>;
}

export type HardenedTool =
  | ({ readonly type: 'accept' } & Sound)
  | ({ readonly type: 'flag' } & Flagged & Sound)
  /** Left out; its neighbours stay. `name`: as far as it has one, safe to print. */
  | { readonly type: 'reject'; readonly name: string; readonly reason: string };

interface Sound {
  readonly name: string;
  readonly exposed: string;
  /** As it came, unknown members included; only description and titles may have been cleaned. */
  readonly definition: JsonObject;
  /** Arguments that HTTP headers repeat; absent: none. */
  readonly mirrored?: readonly ParamHeader[];
}

/** Judges every tool of one upstream before anybody is asked about it, in the order they came. Never throws, whatever they are. */
export function hardenTools({ server, prefix = server, tools, builtins }: HardenInput): readonly HardenedTool[] {
  const bad = badName(server) ?? (prefix === '' ? undefined : badName(prefix));
  const names = new Set<string>();
  // Case decides nothing for people, so it may not tell a foreign tool from one of ours.
  const used = new Set([...builtins].map((name) => name.toLowerCase()));
  return tools.map((tool, index): HardenedTool => {
    const reject = (reason: string): HardenedTool => ({ type: 'reject', name: shownName(tool, index), reason });
    if (bad !== undefined) return reject(`the name of the server or its prefix ${bad}`);
    if (index >= MAX_TOOLS) return reject(`it is number ${index + 1}, and no more than ${MAX_TOOLS} tools of one server are used`);
    if (!isObject(tool)) return reject('it is not an object');
    const problem = findToolProblem(tool);
    if (problem !== undefined) return reject(problem);
    const name = String(tool['name']);
    if (names.has(name)) return reject('the server has a tool of this name already');
    const exposed = exposedName(prefix, name);
    if (used.has(exposed.toLowerCase())) return reject(`its name ${exposed} is taken by another tool`);
    const mirrored = readParamHeaders(tool['inputSchema']);
    // No client over HTTP may take such a tool, and Writ shows all of them to clients over HTTP.
    if (!mirrored.ok) return reject(`its inputSchema ${mirrored.problem}`);
    names.add(name);
    used.add(exposed.toLowerCase());
    const { definition, flagged } = judgeTexts(
      tool,
      contradictions({ name, description: tool['description'], annotations: tool['annotations'] }),
    );
    const sound: Sound = { name, exposed, definition, ...(mirrored.headers.length === 0 ? {} : { mirrored: mirrored.headers }) };
    return flagged === undefined ? { type: 'accept', ...sound } : { type: 'flag', ...sound, ...flagged };
  });
}

function findToolProblem(tool: JsonObject): string | undefined {
  const members = Object.keys(tool).length;
  if (members > MAX_MEMBERS) return `it has ${members} members, more than ${MAX_MEMBERS}`;
  const name = badName(tool['name']);
  if (name !== undefined) return `its name ${name}`;
  for (const field of ['description', 'title']) {
    if (tool[field] !== undefined && typeof tool[field] !== 'string') return `its ${field} is not a text`;
  }
  const annotations = findAnnotationProblem(tool['annotations']);
  if (annotations !== undefined) return `its annotations: ${annotations}`;
  for (const field of ['_meta', 'execution'])
    if (tool[field] !== undefined && !isObject(tool[field])) return `its ${field} is not an object`;
  const icons = tool['icons'];
  if (icons !== undefined && !(Array.isArray(icons) && icons.every((icon) => isObject(icon) && typeof icon['src'] === 'string'))) {
    return 'its icons are not a list of objects with a src';
  }
  const input = findSchemaProblem(tool['inputSchema'], 'object');
  if (input !== undefined) return `its inputSchema ${input}`;
  const output = tool['outputSchema'] === undefined ? undefined : findSchemaProblem(tool['outputSchema'], 'any');
  if (output !== undefined) return `its outputSchema ${output}`;
  const { inputSchema: _, outputSchema: __, ...rest } = tool;
  if (deeperThan(rest, MAX_DEFINITION_DEPTH)) return `it is nested deeper than ${MAX_DEFINITION_DEPTH} levels`;
  const bytes = Buffer.byteLength(JSON.stringify(rest));
  return bytes > MAX_REST_BYTES ? `it has ${bytes} bytes besides its schemas, more than ${MAX_REST_BYTES}` : undefined;
}

/** What to call it in a reason, safe to print. */
function shownName(tool: unknown, index: number): string {
  const name = isObject(tool) ? tool['name'] : undefined;
  return typeof name === 'string' && name !== '' ? visible(name.slice(0, 80)) : `number ${index + 1}`;
}
