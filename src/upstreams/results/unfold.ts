import { toAppError } from '../../kernel/errors.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import type { Artifact, ArtifactOwner, ArtifactStore, Origin } from './artifacts.ts';
import { type Answer, type Item, textItem } from './content.ts';
import { type Envelope, type EnvelopeRead, envelopeOf, MAX_REFERENCES, readEnvelope } from './envelope.ts';
import { referenceLine, shortened, withoutImitations } from './lines.ts';
import { type ArtifactReference, type FileIdentity, openReference } from './reference.ts';

/** Digests of one result are checked up to so many bytes when it comes in, and all of them when a file is read. */
const MAX_DIGESTED_BYTES = 256 * 1024 ** 2;

/** Envelopes taken apart: their texts in place, and a line for each file, which is registered and not read. */
export interface Unfolded extends Pick<Answer, 'items' | 'is_error' | 'structured'> {
  readonly lines: readonly string[];
  readonly artifacts: readonly Artifact[];
}

export interface UnfoldParts {
  readonly roots: readonly string[];
  readonly origin: Origin;
  readonly owner: ArtifactOwner;
  readonly store: ArtifactStore;
  readonly signal: AbortSignal;
}

/** One bad envelope, or one bad reference, refuses the whole. */
export async function unfold({ items, structured, is_error }: Answer, parts: UnfoldParts): Promise<Unfolded | { readonly reason: string }> {
  const texts = unfoldItems(items);
  if ('reason' in texts) return texts;
  const rest = unfoldStructured(structured);
  if ('reason' in rest) return rest;
  // Both forms hold the same one: it counts once, and in neither are its paths shown.
  const envelopes = texts.envelopes.length > 0 ? texts.envelopes : rest.envelopes;
  const shown =
    rest.value === undefined && texts.envelopes.length === 0 ? envelopes.map(({ text }) => textItem(withoutImitations(text))) : [];
  const references = envelopes.flatMap((one) => one.references);
  if (references.length > MAX_REFERENCES) return { reason: `it refers to ${references.length} artifacts, more than ${MAX_REFERENCES}` };
  const looked = await lookAt(references, parts);
  if ('reason' in looked) return looked;
  const lines: string[] = [];
  const artifacts: Artifact[] = [];
  for (const { reference, identity } of looked.files) {
    const place = await register(reference, identity, parts);
    if ('id' in place) artifacts.push(place);
    lines.push(referenceLine(reference, identity.size, place));
  }
  return { items: [...texts.items, ...shown], is_error, ...(rest.value === undefined ? {} : { structured: rest.value }), lines, artifacts };
}

function unfoldItems(
  items: readonly Item[],
): { readonly items: readonly Item[]; readonly envelopes: readonly Envelope[] } | { readonly reason: string } {
  const envelopes: Envelope[] = [];
  const unfolded: Item[] = [];
  for (const item of items) {
    const read: EnvelopeRead = item.kind === 'text' && !item.whole ? readEnvelope(item.text) : { type: 'none' };
    if (read.type === 'refused') return read;
    if (read.type === 'envelope') envelopes.push(read.envelope);
    unfolded.push(read.type === 'envelope' ? textItem(withoutImitations(read.envelope.text)) : item);
  }
  return { items: unfolded, envelopes };
}

/** As it is, or the text of a tool as a member of it, which is how FastMCP passes on what returns a text. */
function unfoldStructured(
  value: unknown,
): { readonly value?: unknown; readonly envelopes: readonly Envelope[] } | { readonly reason: string } {
  const whole = envelopeOf(value);
  if (whole.type === 'refused') return whole;
  if (whole.type === 'envelope') return { envelopes: [whole.envelope] };
  if (!isObject(value)) return { value, envelopes: [] };
  const envelopes: Envelope[] = [];
  const members: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const read: EnvelopeRead = typeof member === 'string' ? readEnvelope(member) : { type: 'none' };
    if (read.type === 'refused') return read;
    if (read.type === 'envelope') envelopes.push(read.envelope);
    members.push([name, read.type === 'envelope' ? withoutImitations(read.envelope.text) : member]);
  }
  return envelopes.length === 0 ? { value, envelopes } : { value: Object.fromEntries(members), envelopes };
}

interface LookedAt {
  readonly reference: ArtifactReference;
  readonly identity: FileIdentity;
}

async function lookAt(
  references: readonly ArtifactReference[],
  { roots, store, signal }: UnfoldParts,
): Promise<{ readonly files: readonly LookedAt[] } | { readonly reason: string }> {
  const files: LookedAt[] = [];
  let digested = 0;
  for (const reference of references) {
    const { sha256, ...undigested } = reference;
    const opened = await openReference(digested > MAX_DIGESTED_BYTES ? undigested : reference, { roots, writ_home: store.home }, signal);
    if (!opened.ok) return { reason: `artifact "${shortened(reference.id, 100)}" is refused: ${opened.reason}` };
    await opened.handle.close();
    if (sha256 !== undefined) digested += opened.identity.size;
    files.push({ reference, identity: opened.identity });
  }
  return { files };
}

async function register(
  reference: ArtifactReference,
  identity: FileIdentity,
  { roots, origin, owner, store }: UnfoldParts,
): Promise<Artifact | { readonly problem: string }> {
  try {
    return await store.refer(owner, origin, { reference, roots, identity });
  } catch (thrown) {
    return { problem: shortened(toAppError(thrown).message, 120) };
  }
}
