import { toAppError } from '../../kernel/errors.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { Artifact, ArtifactOwner, ArtifactStore, Origin } from './artifacts.ts';
import { countCodePoints, firstCodePoints } from './code-points.ts';
import { charactersOf, type Item, textItem } from './content.ts';
import { cutLine, readOn, shortened } from './lines.ts';

/** Parts of a result that don't fit and are kept one by one; more are kept as one. */
const MAX_PARTS = 16;
/** What our own lines take, at most: the first one, and one for each part. */
const FIRST_LINE_CHARS = 460;
const PART_LINE_CHARS = 320;
/** A shorter beginning says nothing. */
const MIN_BEGINNING = 100;

export interface Oversized {
  readonly items: readonly Item[];
  readonly structured?: unknown;
  readonly is_error: boolean;
  /** Of the whole. */
  readonly chars: number;
}

export interface SpillParts {
  readonly store: ArtifactStore;
  readonly owner: ArtifactOwner;
  readonly origin: Origin;
  readonly limit: number;
  readonly redactor: Pick<Redactor, 'part'>;
  /** Our own lines that have to be there whatever else there is room for. */
  readonly reserved: number;
}

export interface Spilled {
  /** What was cut and how to get it; one line each. */
  readonly notice: readonly string[];
  readonly items: readonly Item[];
  /** Absent: there was none, or no room for it. */
  readonly structured?: unknown;
  readonly artifacts: readonly Artifact[];
}

interface Part {
  readonly what: string;
  readonly media_type: string;
  bytes(): Uint8Array;
}

/**
 * A result that is too large for a model: what fits stays, in order, and the rest is kept where it can be read in pieces. Only a plain
 * text is ever cut, and says where; pictures, links, structured content and what is malformed stay whole or go whole.
 */
export async function spill(result: Oversized, parts: SpillParts): Promise<Spilled> {
  const { origin, limit } = parts;
  const few = Math.max(1, Math.min(MAX_PARTS, Math.floor(limit / 2000)));
  const room = Math.max(0, limit - parts.reserved - FIRST_LINE_CHARS - PART_LINE_CHARS * few);
  const structuredChars = result.structured === undefined ? 0 : countCodePoints(JSON.stringify(result.structured));
  // Clients that know an output schema reject a result without it, so that it goes first.
  const keepsStructured = result.structured !== undefined && structuredChars <= room;
  const chosen = choose(result.items, keepsStructured ? room - structuredChars : room, few, parts.redactor);
  const dropped: Part[] = [...chosen.dropped];
  if (result.structured !== undefined && !keepsStructured) {
    dropped.push({ what: 'the structured content', media_type: 'application/json', bytes: () => utf8(JSON.stringify(result.structured)) });
  }
  const together = dropped.length > few;
  const artifacts: Artifact[] = [];
  const notice: string[] = [];
  const seen = `the result of the tool "${shortened(origin.tool, 64)}" of the MCP server "${origin.server}" has ${result.chars} characters, over its limit of ${limit} (max_result_chars)`;
  const keep = async (part: Part, cursor: number): Promise<string> => {
    try {
      const artifact = await parts.store.keep(parts.owner, origin, { media_type: part.media_type, bytes: part.bytes() });
      artifacts.push(artifact);
      return readOn(artifact.id, cursor);
    } catch (thrown) {
      return `it could not be kept: ${shortened(toAppError(thrown).message, 120)}`;
    }
  };
  if (together) {
    const { structured } = result;
    const content = result.items.map((item) => item.raw);
    const whole: Part = {
      what: '',
      media_type: 'application/json',
      bytes: () =>
        utf8(JSON.stringify({ content, ...(structured === undefined ? {} : { structuredContent: structured }), isError: result.is_error })),
    };
    notice.push(`[cut: ${seen}. ${dropped.length} parts are left out; the whole as JSON: ${await keep(whole, 0)}]`);
  } else {
    notice.push(
      `[cut: ${seen}.${chosen.cut === undefined ? '' : ` The rest of its text: ${await keep(chosen.cut.part, chosen.cut.cursor)}`}]`,
    );
    for (const part of dropped) notice.push(`[left out: ${part.what}; ${await keep(part, 0)}]`);
  }
  return { notice, items: chosen.items, artifacts, ...(keepsStructured ? { structured: result.structured } : {}) };
}

interface Chosen {
  readonly items: readonly Item[];
  /** All texts of the result as one, and where in it (in bytes) those that are shown end. */
  readonly cut?: { readonly part: Part; readonly cursor: number };
  readonly dropped: readonly Part[];
}

function choose(items: readonly Item[], room: number, few: number, redactor: Pick<Redactor, 'part'>): Chosen {
  const kept: Item[] = [];
  const dropped: Part[] = [];
  const texts: string[] = [];
  let left = room;
  let cursor: number | undefined;
  let before = 0;
  for (const [index, item] of items.entries()) {
    const chars = charactersOf(item);
    const isText = item.kind === 'text' && !item.whole;
    if (isText) texts.push(item.text);
    if (chars <= left && kept.length < MAX_ITEMS) {
      kept.push(item);
      left -= chars;
      if (isText) before += utf8(item.text).length + 1;
    } else if (!isText) {
      if (dropped.length <= few) dropped.push(partOf(item, index + 1));
      else dropped.push(UNCOUNTED);
    } else if (cursor === undefined) {
      const beginning = left - CUT_CHARS >= MIN_BEGINNING && kept.length < MAX_ITEMS ? firstCodePoints(item.text, left - CUT_CHARS) : '';
      if (beginning !== '') kept.push(textItem(shownPart(beginning, item.text, redactor) + cutLine(beginning, item.text)));
      cursor = before + utf8(beginning).length;
      left = 0;
    }
  }
  if (cursor === undefined) return { items: kept, dropped };
  return {
    items: kept,
    dropped,
    cut: { cursor, part: { what: 'the text', media_type: 'text/plain', bytes: () => utf8(texts.join('\n')) } },
  };
}

/** Whoever looks for secrets after this sees only half of one that the cut goes through: here it is still whole. */
function shownPart(beginning: string, whole: string, redactor: Pick<Redactor, 'part'>): string {
  const after = whole.slice(beginning.length, beginning.length + AFTER_CHARS);
  return firstCodePoints(redactor.part('', beginning, after), countCodePoints(beginning));
}
const AFTER_CHARS = 8_192;

/** Items of one result that are shown; a client should not be handed a million of them. */
export const MAX_ITEMS = 1_000;
const CUT_CHARS = 120;
const UNCOUNTED: Part = { what: '', media_type: '', bytes: () => new Uint8Array() };

function partOf(item: Item, at: number): Part {
  switch (item.kind) {
    case 'binary': {
      const { data, media_type } = item;
      return {
        what: `content item ${at}, ${shortened(media_type, 100)}, ${Buffer.byteLength(data, 'base64')} bytes`,
        media_type,
        bytes: () => Buffer.from(data, 'base64'),
      };
    }
    case 'text':
      return { what: `content item ${at}, which is malformed`, media_type: 'text/plain', bytes: () => utf8(item.text) };
    case 'other':
      return {
        what: `content item ${at}, a ${shortened(String(item.raw['type']), 60)}`,
        media_type: 'application/json',
        bytes: () => utf8(JSON.stringify(item.raw)),
      };
  }
}

function utf8(text: string): Buffer {
  return Buffer.from(text, 'utf8');
}
