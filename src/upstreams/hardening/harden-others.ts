import { isObject } from '../../kernel/json-rpc/message.ts';
import { visible } from '../../kernel/visible.ts';
import type { JsonObject } from '../types.ts';
import { cleanText } from './clean-text.ts';
import { FINDINGS } from './findings.ts';
import { withoutHidden } from './hidden.ts';
import { type Flagged, judgeTexts } from './judge-texts.ts';
import { exposedPromptName } from './names.ts';
import { scanText } from './scan.ts';
import { deeperThan } from './schema.ts';

/** Of one server and kind; what comes after is refused. */
const MAX_ITEMS = 10_000;
const MAX_ITEM_BYTES = 64 * 1024;
const MAX_ITEM_DEPTH = 62;
const MAX_NAME = 256;
const MAX_ADDRESS = 8_192;
/** More is a manual, which nobody should have in every conversation. */
export const MAX_INSTRUCTIONS = 32 * 1024;

export type OtherKind = 'prompt' | 'resource' | 'template';

/** Texts that must be there, with the most characters of each. What identifies the item comes first. */
const NEEDED: Readonly<Record<OtherKind, readonly (readonly [field: string, most: number])[]>> = {
  prompt: [['name', MAX_NAME]],
  resource: [
    ['uri', MAX_ADDRESS],
    ['name', MAX_NAME],
  ],
  template: [
    ['uriTemplate', MAX_ADDRESS],
    ['name', MAX_NAME],
  ],
};

export type HardenedItem =
  | { readonly type: 'accept'; readonly key: string; readonly exposed: string; readonly definition: JsonObject }
  | ({ readonly type: 'flag'; readonly key: string; readonly exposed: string; readonly definition: JsonObject } & Flagged)
  | { readonly type: 'reject'; readonly name: string; readonly reason: string };

export interface HardenItemsInput {
  readonly kind: OtherKind;
  /** In front of prompts' names. Default: none. */
  readonly prefix?: string;
  readonly items: readonly unknown[];
}

/**
 * Prompts, resources and templates, in the order they came. `key` is what the upstream calls it (name, address, template); `exposed` what
 * callers see: the same, but for prompts, which get the prefix. Never throws, whatever they are.
 */
export function hardenItems({ kind, prefix = '', items }: HardenItemsInput): readonly HardenedItem[] {
  const keys = new Set<string>();
  return items.map((item, index): HardenedItem => {
    const [field] = NEEDED[kind][0] ?? ['name'];
    const given = isObject(item) ? item[field] : undefined;
    const shown = typeof given === 'string' && given !== '' ? visible(given.slice(0, 80)) : `number ${index + 1}`;
    const reject = (reason: string): HardenedItem => ({ type: 'reject', name: shown, reason });
    if (index >= MAX_ITEMS) return reject(`it is number ${index + 1}, and no more than ${MAX_ITEMS} of one server are used`);
    if (!isObject(item)) return reject('it is not an object');
    const problem = findItemProblem(kind, item);
    if (problem !== undefined) return reject(problem);
    const key = String(given);
    if (keys.has(key)) return reject(`the server has a ${kind} of this ${field} already`);
    keys.add(key);
    const { definition, flagged } = judgeTexts(item);
    const exposed = kind === 'prompt' ? exposedPromptName(prefix, key) : key;
    return flagged === undefined ? { type: 'accept', key, exposed, definition } : { type: 'flag', key, exposed, definition, ...flagged };
  });
}

function findItemProblem(kind: OtherKind, item: JsonObject): string | undefined {
  if (deeperThan(item, MAX_ITEM_DEPTH)) return `it is nested deeper than ${MAX_ITEM_DEPTH} levels`;
  const bytes = Buffer.byteLength(JSON.stringify(item));
  if (bytes > MAX_ITEM_BYTES) return `it has ${bytes} bytes, more than ${MAX_ITEM_BYTES}`;
  for (const [field, most] of NEEDED[kind]) {
    const text = item[field];
    if (typeof text !== 'string' || text === '') return `its ${field} is ${text === undefined ? 'missing' : 'not a text'}`;
    if (text.length > most) return `its ${field} has ${text.length} characters, more than ${most}`;
    // It can't be cleaned: the server must know it again.
    if (withoutHidden(text) !== text || /[\r\n]/.test(text)) return `its ${field} holds characters that show as nothing or break the line`;
  }
  for (const field of ['title', 'description', 'mimeType']) {
    if (item[field] !== undefined && typeof item[field] !== 'string') return `its ${field} is not a text`;
  }
  const list = item['arguments'];
  if (
    kind === 'prompt' &&
    list !== undefined &&
    !(Array.isArray(list) && list.every((one) => isObject(one) && typeof one['name'] === 'string'))
  ) {
    return 'its arguments are not a list of objects with a name';
  }
  return undefined;
}

export type HardenedInstructions =
  | { readonly type: 'accept'; readonly text: string }
  | ({ readonly type: 'flag'; readonly text: string } & Flagged)
  | { readonly type: 'reject'; readonly reason: string };

/** What a server wants every model to read. */
export function hardenInstructions(given: unknown): HardenedInstructions {
  if (typeof given !== 'string') return { type: 'reject', reason: 'its instructions are not a text' };
  if (given.length > MAX_INSTRUCTIONS)
    return { type: 'reject', reason: `its instructions have ${given.length} characters, more than ${MAX_INSTRUCTIONS}` };
  const findings = scanText(given).map((finding) => ({ ...finding, path: 'instructions' }));
  const { text, change } = cleanText('instructions', given);
  if (findings.length === 0 && change === undefined) return { type: 'accept', text };
  const flags = [
    ...findings.map(({ kind, excerpt }) => `It ${FINDINGS[kind]}: ${excerpt}`),
    ...(change === undefined ? [] : ['It held characters that show as nothing; they were taken out.']),
  ];
  return { type: 'flag', text, flags, held: findings.length > 0, findings, changes: change === undefined ? [] : [change] };
}
