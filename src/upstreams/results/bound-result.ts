import { createHash } from 'node:crypto';
import { toAppError } from '../../kernel/errors.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { JsonObject, UpstreamSettings, UpstreamTool } from '../types.ts';
import type { Artifact, ArtifactOwner, ArtifactStore } from './artifacts.ts';
import { countCodePoints } from './code-points.ts';
import { type Answer, charactersOf, type Item, readAnswer, textItem } from './content.ts';
import { type Envelope, envelopeOf, readEnvelope } from './envelope.ts';
import { referenceLine, shortened, untrustedLine, withoutImitations } from './lines.ts';
import { schemaMismatch } from './output-schema.ts';
import { type FileIdentity, openReference } from './reference.ts';
import { MAX_ITEMS, spill } from './spill.ts';

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
    sha256: createHash('sha256').update(seen).digest('hex'),
  };
  const unfolded = await unfold(answer, parts);
  if ('reason' in unfolded) return refused(unfolded.reason, facts, parts);

  const told = structuredAsText(unfolded);
  const mismatch = mismatchOf(told, tool.definition['outputSchema']);
  const shaped = mismatch === undefined ? told : mismatched(told, mismatch);
  const chars = totalOf(shaped);
  const lines = linesWithin(unfolded.lines, settings.max_result_chars / 2);
  const own_chars = countCodePoints(lines.join('\n'));
  const fits = chars + own_chars <= settings.max_result_chars && shaped.items.length <= MAX_ITEMS;
  const origin = { server: settings.name, tool: facts.tool };
  const room = {
    redactor: parts.redactor,
    store: parts.store,
    owner: parts.owner,
    origin,
    limit: settings.max_result_chars,
    reserved: own_chars + LOST.length + 2,
  };
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

/** Envelopes taken apart: their texts in place, a line for each file, which is registered and not read. */
interface Unfolded extends Shaped {
  readonly lines: readonly string[];
  readonly artifacts: readonly Artifact[];
}

async function unfold(answer: Answer, parts: BoundParts): Promise<Unfolded | { readonly reason: string }> {
  const envelopes: Envelope[] = [];
  const items: Item[] = [];
  for (const item of answer.items) {
    const read = item.kind === 'text' && !item.whole ? readEnvelope(item.text) : ({ type: 'none' } as const);
    if (read.type === 'refused') return read;
    if (read.type === 'envelope') envelopes.push(read.envelope);
    items.push(read.type === 'envelope' ? textItem(withoutImitations(read.envelope.text)) : item);
  }
  const structured = envelopeOf(answer.structured);
  if (structured.type === 'refused') return structured;
  const { structured: given, is_error } = answer;
  // The same envelope twice: its paths must not be shown in the other form either.
  const rest = { is_error, ...(given === undefined || structured.type === 'envelope' ? {} : { structured: given }) };
  if (structured.type === 'envelope' && envelopes.length === 0) {
    envelopes.push(structured.envelope);
    items.push(textItem(withoutImitations(structured.envelope.text)));
  }
  const references = envelopes.flatMap((one) => one.references);
  const looked: { readonly reference: (typeof references)[number]; readonly identity: FileIdentity }[] = [];
  for (const reference of references) {
    const opened = await openReference(reference, { roots: parts.settings.artifact_roots, writ_home: parts.store.home }, parts.signal);
    if (!opened.ok) return { reason: `artifact "${shortened(reference.id, 100)}" is refused: ${opened.reason}` };
    await opened.handle.close();
    looked.push({ reference, identity: opened.identity });
  }
  const lines: string[] = [];
  const artifacts: Artifact[] = [];
  for (const { reference, identity } of looked) {
    const place = await register(reference, identity, parts);
    if ('artifact' in place) artifacts.push(place.artifact);
    lines.push(referenceLine(reference, identity.size, 'artifact' in place ? place.artifact : place));
  }
  return { items, ...rest, lines, artifacts };
}

async function register(
  reference: Parameters<ArtifactStore['refer']>[2]['reference'],
  identity: FileIdentity,
  { settings, tool, owner, store }: BoundParts,
): Promise<{ readonly artifact: Artifact } | { readonly problem: string }> {
  try {
    const origin = { server: settings.name, tool: tool.name.slice(0, 200) };
    return { artifact: await store.refer(owner, origin, { reference, roots: settings.artifact_roots, identity }) };
  } catch (thrown) {
    return { problem: toAppError(thrown).message };
  }
}

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
