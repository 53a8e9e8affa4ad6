import { isObject } from '../../kernel/json-rpc/message.ts';
import type { JsonObject } from '../types.ts';
import { countCodePoints } from './code-points.ts';

/** Longer ones name nothing. */
export const MAX_MEDIA_TYPE = 200;

/** One item of a result, by what can be done with it when there is no room. */
export type Item =
  /** `whole`: it stands for something that must not be cut. */
  | { readonly kind: 'text'; readonly text: string; readonly raw: JsonObject; readonly whole: boolean }
  /** Proper base64. */
  | { readonly kind: 'binary'; readonly data: string; readonly media_type: string; readonly raw: JsonObject }
  /** Links, embedded texts, and what this version doesn't know. */
  | { readonly kind: 'other'; readonly raw: JsonObject };

/** A CallToolResult as it came, in order; what is malformed in it is text that says so, never something that looks right. */
export interface Answer {
  readonly items: readonly Item[];
  readonly structured?: unknown;
  readonly is_error: boolean;
  readonly meta?: JsonObject;
  readonly malformed: readonly string[];
}

export function readAnswer(raw: unknown): Answer {
  if (!isObject(raw)) return { items: [malformed('result: it is no object', raw)], is_error: true, malformed: ['result'] };
  const { content, structuredContent, isError, _meta } = raw;
  const listed = Array.isArray(content) ? content : [];
  const items = listed.map((one, index) => readItem(one, index + 1));
  const wrong = items.flatMap((item, index) => (item.kind === 'text' && item.whole ? [`content item ${index + 1}`] : []));
  // Before 2025-06-18 there was nothing but content; since then it may be left out where there is something else.
  if (!Array.isArray(content) && (content !== undefined || structuredContent === undefined)) {
    items.push(
      malformed(content === undefined ? 'result: it has no content' : 'content: it is no list', content === undefined ? raw : content),
    );
    wrong.push('content');
  }
  return {
    items,
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    is_error: isError !== undefined && isError !== false && isError !== null,
    ...(isObject(_meta) ? { meta: _meta } : {}),
    malformed: wrong,
  };
}

export function textItem(text: string, whole = false): Item {
  return { kind: 'text', text, raw: { type: 'text', text }, whole };
}

/** What it takes of the room that a model has. */
export function charactersOf(item: Item): number {
  if (item.kind !== 'text') return countCodePoints(JSON.stringify(item.raw));
  const { text: _, type: __, ...rest } = item.raw;
  return countCodePoints(item.text) + (Object.keys(rest).length === 0 ? 0 : countCodePoints(JSON.stringify(rest)));
}

function readItem(raw: unknown, at: number): Item {
  if (!isObject(raw)) return malformed(`content item ${at}: it is no object`, raw);
  const { type } = raw;
  if (typeof type !== 'string') return malformed(`content item ${at}: it has no type`, raw);
  switch (type) {
    case 'text':
      return typeof raw['text'] === 'string'
        ? { kind: 'text', text: raw['text'], raw, whole: false }
        : malformed(`content item ${at}: a text without text`, raw);
    case 'image':
    case 'audio':
      return readBinary(raw, raw['data'], `content item ${at}`);
    case 'resource': {
      const { resource } = raw;
      if (!isObject(resource) || typeof resource['uri'] !== 'string')
        return malformed(`content item ${at}: a resource without address`, raw);
      if (resource['blob'] !== undefined) return readBinary(raw, resource['blob'], `content item ${at}`, resource['mimeType']);
      return typeof resource['text'] === 'string'
        ? { kind: 'other', raw }
        : malformed(`content item ${at}: a resource without text or blob`, raw);
    }
    case 'resource_link':
      return typeof raw['uri'] === 'string' && typeof raw['name'] === 'string'
        ? { kind: 'other', raw }
        : malformed(`content item ${at}: a link without address or name`, raw);
    default:
      return { kind: 'other', raw };
  }
}

/** What isn't base64 makes hosts fail when they hand it on to a model. */
function readBinary(raw: JsonObject, data: unknown, where: string, mimeType: unknown = raw['mimeType']): Item {
  if (typeof data !== 'string' || !isBase64(data)) return malformed(`${where}: its data is no base64`, raw);
  if (raw['type'] !== 'resource' && typeof mimeType !== 'string') return malformed(`${where}: it has no mimeType`, raw);
  return {
    kind: 'binary',
    data,
    media_type: typeof mimeType === 'string' && mimeType.length <= MAX_MEDIA_TYPE ? mimeType : 'application/octet-stream',
    raw,
  };
}

/** A search for one wrong character, since an expression for the whole would need memory for each of them. */
function isBase64(data: string): boolean {
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0;
  return data.length % 4 === 0 && !/[^A-Za-z0-9+/]/.test(data.slice(0, data.length - padding));
}

function malformed(what: string, raw: unknown): Item {
  return textItem(`[malformed ${what}] ${JSON.stringify(raw) ?? 'undefined'}`, true);
}
