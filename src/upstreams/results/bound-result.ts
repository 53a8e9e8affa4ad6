import { hash } from 'node:crypto';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { JsonObject, UpstreamSettings, UpstreamTool } from '../types.ts';
import type { Artifact, ArtifactOwner, ArtifactStore } from './artifacts.ts';
import { countCodePoints } from './code-points.ts';
import { type Answer, charactersOf, type Item, readAnswer, textItem } from './content.ts';
import { shortened, untrustedLine } from './lines.ts';
import { schemaMismatch } from './output-schema.ts';
import { MAX_ITEMS, spill } from './spill.ts';
import { unfold } from './unfold.ts';

export interface BoundParts {
  readonly settings: Pick<UpstreamSettings, 'name' | 'max_result_chars' | 'artifact_roots'>;
  readonly tool: Pick<UpstreamTool, 'name' | 'definition'>;
  readonly owner: ArtifactOwner;
  readonly store: ArtifactStore;
  readonly redactor: Pick<Redactor, 'part'>;
  readonly signal: AbortSignal;
}

/** What a caller is given of a result, within the limits of its server and labelled with where it came from. */
export interface BoundResult {
  readonly content: readonly JsonObject[];
  readonly structured?: unknown;
  readonly is_error: boolean;
  readonly meta?: JsonObject;
  readonly origins: readonly string[];
  /** Counts and digests for the record, never content. */
  readonly evidence: JsonObject;
  readonly artifacts: readonly Artifact[];
}

/** One `_meta` may be so large; it isn't for models. */
const MAX_META_CHARS = 16_384;

/**
 * The one way from what an upstream answered to what the gate passes on. What is within its limits and well-formed stays as it is. A
 * protocol error goes the same way, as a result with `isError` and its message as text.
 */
export async function boundResult(raw: unknown, parts: BoundParts): Promise<BoundResult> {
  const { settings, tool } = parts;
  const answer = readAnswer(raw);
  const seen = JSON.stringify([answer.items.map((item) => item.raw), answer.structured ?? null]);
  const facts = {
    server: settings.name,
    tool: tool.name.slice(0, 200),
    items: answer.items.length,
    sha256: hash('sha256', seen, 'hex'),
  };
  const origin = { server: settings.name, tool: facts.tool };
  const { owner, store, signal, redactor } = parts;
  const unfolded = await unfold(answer, { roots: settings.artifact_roots, origin, owner, store, signal });
  if ('reason' in unfolded) return refused(unfolded.reason, facts, parts);

  const told = structuredAsText(unfolded);
  const mismatch = mismatchOf(told, tool.definition['outputSchema']);
  const shaped = mismatch === undefined ? told : mismatched(told, mismatch);
  const chars = totalOf(shaped);
  const lines = linesWithin(unfolded.lines, settings.max_result_chars / 2);
  const own_chars = countCodePoints(lines.join('\n'));
  const fits = chars + own_chars <= settings.max_result_chars && shaped.items.length <= MAX_ITEMS;
  const limit = settings.max_result_chars;
  const room = { redactor, store, owner, origin, limit, reserved: own_chars + LOST.length + 2 };
  const bounded = fits ? { ...shaped, notice: [], artifacts: [] } : await spill({ ...shaped, chars }, room);
  const lost = shaped.structured !== undefined && bounded.structured === undefined && tool.definition['outputSchema'] !== undefined;
  // Clients that know the schema would throw away a result without structured content, unless it is an error.
  const notice = lost ? [...bounded.notice, LOST] : bounded.notice;
  const is_error = shaped.is_error || lost;
  const own = [...lines, ...notice].join('\n');
  const artifacts = [...unfolded.artifacts, ...bounded.artifacts];
  const meta = metaOf(answer.meta, settings.name);
  return {
    content: labelled([...(own === '' ? [] : [textItem(own)]), ...bounded.items], is_error, untrustedLine(settings.name)),
    ...(bounded.structured === undefined ? {} : { structured: bounded.structured }),
    is_error,
    meta,
    origins: [originOf(parts)],
    evidence: {
      ...facts,
      chars,
      is_error: answer.is_error,
      ...(fits ? {} : { cut: true }),
      ...(mismatch === undefined ? {} : { schema: shortened(mismatch) }),
      ...(answer.malformed.length === 0 ? {} : { malformed: answer.malformed.slice(0, 20) }),
      ...(artifacts.length === 0
        ? {}
        : { artifacts: artifacts.map(({ id, bytes, sha256 }) => ({ id, bytes, ...(sha256 === undefined ? {} : { sha256 }) })) }),
    },
    artifacts,
  };
}

const LOST = '[the call itself was carried out; its structured content is too large to be passed on, so that this is marked as an error]';

function originOf({ settings }: BoundParts): string {
  return `mcp:${settings.name}`;
}

type Shaped = Pick<Answer, 'items' | 'is_error' | 'structured'>;

/** Where there is nothing but structured content, clients of the older revisions would be given nothing. */
function structuredAsText({ items, structured, is_error }: Shaped): Shaped {
  const all = items.length === 0 && structured !== undefined ? [textItem(JSON.stringify(structured))] : items;
  return { items: all, is_error, ...(structured === undefined ? {} : { structured }) };
}

/** All are registered, and listed as resources; here are as many as there is room for. */
function linesWithin(lines: readonly string[], most: number): readonly string[] {
  let room = most - MORE_CHARS;
  const fitting = lines.findIndex((line) => {
    room -= countCodePoints(line) + 1;
    return room < 0;
  });
  return fitting === -1 ? lines : [...lines.slice(0, fitting), `[${lines.length - fitting} more artifacts are in the list of resources]`];
}
const MORE_CHARS = 80;

/** Nothing of the result is passed on; that the call was made is said, so that nobody makes it again. */
function refused(reason: string, facts: JsonObject, parts: BoundParts): BoundResult {
  const { settings, tool } = parts;
  const text = `The result of the tool "${shortened(tool.name, 64)}" of the MCP server "${settings.name}" is refused: ${reason}. The call itself was made and may have had effects.`;
  return {
    content: [{ type: 'text', text }],
    is_error: true,
    origins: [originOf(parts)],
    evidence: { ...facts, refused: shortened(reason) },
    artifacts: [],
  };
}

function mismatchOf({ structured, is_error }: Shaped, outputSchema: unknown): string | undefined {
  if (outputSchema === undefined || is_error) return undefined;
  return structured === undefined ? 'there is no structured content' : schemaMismatch(outputSchema, structured);
}

/**
 * It is shown as text, with what is wrong with it. As structured content, clients that know the schema would throw all of it away, as they
 * would a result without any that isn't marked as an error.
 */
function mismatched({ items, structured }: Shaped, mismatch: string): Shaped {
  const label = textItem(
    `[the result doesn't fit the output schema that the tool declares: ${shortened(mismatch)}. The call itself was carried out]`,
  );
  const text = structured === undefined ? undefined : JSON.stringify(structured);
  const told = text === undefined || items.some((item) => item.kind === 'text' && isSameJson(item.text, text));
  return { items: [label, ...items, ...(told ? [] : [textItem(text ?? '')])], is_error: true };
}

function isSameJson(text: string, json: string): boolean {
  if (text === json) return true;
  try {
    return JSON.stringify(JSON.parse(text)) === json;
  } catch {
    return false;
  }
}

function totalOf({ items, structured }: Shaped): number {
  const content = items.reduce((sum, item) => sum + charactersOf(item), 0);
  return structured === undefined ? content : content + countCodePoints(JSON.stringify(structured));
}

/** Some hosts show a model only the first text of an error: there it is one text, with the label in it. */
function labelled(items: readonly Item[], is_error: boolean, label: string): readonly JsonObject[] {
  if (items.length === 0) return [];
  if (!is_error) return [...items.map((item) => item.raw), { type: 'text', text: label }];
  const texts = items.flatMap((item) => (item.kind === 'text' ? [item.text] : []));
  const first = items.find((item) => item.kind === 'text');
  return [
    { ...first?.raw, type: 'text', text: [...texts, label].join('\n') },
    ...items.filter((item) => item.kind !== 'text').map((item) => item.raw),
  ];
}

/** Names that MCP or Writ gives a meaning to are theirs to give, on each hop anew. */
function metaOf(meta: JsonObject | undefined, server: string): JsonObject {
  const own = { 'writ/origin': `mcp:${server}` };
  if (meta === undefined || JSON.stringify(meta).length > MAX_META_CHARS) return own;
  const passed = Object.entries(meta).filter(
    ([name]) => !/^(?:writ|(?:[\w-]+\.)+(?:modelcontextprotocol|mcp)(?:\.[\w-]+)*|(?:modelcontextprotocol|mcp)\.[\w.-]+)\//.test(name),
  );
  return { ...Object.fromEntries(passed), ...own };
}
