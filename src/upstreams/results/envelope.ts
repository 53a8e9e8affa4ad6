import { isObject } from '../../kernel/json-rpc/message.ts';
import { type ArtifactReference, readReference } from './reference.ts';

/** `odek.tool-result/v1`: a short text, and files where the whole can be read. It comes as the JSON text of one content item. */
export interface Envelope {
  readonly text: string;
  readonly references: readonly ArtifactReference[];
}

export type EnvelopeRead =
  /** It is something else, and passes as it is. */
  | { readonly type: 'none' }
  | { readonly type: 'envelope'; readonly envelope: Envelope }
  /** It says that it is one and isn't right: nothing of it is used. */
  | { readonly type: 'refused'; readonly reason: string };

const SCHEMA = 'odek.tool-result/v1';
export const MAX_REFERENCES = 64;

export function readEnvelope(text: string): EnvelopeRead {
  // Not the whole name: some programs write its slash as `\/`.
  if (!text.includes('odek.tool-result')) return { type: 'none' };
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (!trimmed.startsWith('{')) return { type: 'none' };
  try {
    return envelopeOf(JSON.parse(trimmed));
  } catch {
    return { type: 'none' };
  }
}

/** The same of what is no text any more. */
export function envelopeOf(value: unknown): EnvelopeRead {
  if (!isObject(value) || value['schema'] !== SCHEMA) return { type: 'none' };
  const { text, artifacts = [] } = value;
  if (typeof text !== 'string') return { type: 'refused', reason: 'its text is missing or no text' };
  if (!Array.isArray(artifacts)) return { type: 'refused', reason: 'its artifacts are no list' };
  if (artifacts.length > MAX_REFERENCES) {
    return { type: 'refused', reason: `it refers to ${artifacts.length} artifacts, more than ${MAX_REFERENCES}` };
  }
  const references: ArtifactReference[] = [];
  for (const [index, raw] of artifacts.entries()) {
    const read = readReference(raw);
    if (!read.ok) return { type: 'refused', reason: `artifact ${index + 1} of ${artifacts.length} is refused: ${read.reason}` };
    references.push(read.reference);
  }
  return { type: 'envelope', envelope: { text, references } };
}
