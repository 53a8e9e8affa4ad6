import { createHash } from 'node:crypto';
import * as z from 'zod';
import { canonicalJson } from '../../kernel/canonical-json.ts';
import type { JsonObject } from '../types.ts';

/**
 * What a pin is made of. Whoever changes which members count, or how they are spelled, raises this: every pin then asks once more and
 * says that it is for this reason.
 */
export const PIN_FORMAT = 1;

/** Of one member in canonical JSON; a bigger one is known by its digest only, and a difference can't show what is in it. */
const MAX_KEPT_BYTES = 16 * 1024;

const digest = z.string().regex(/^[0-9a-f]{64}$/);

const fieldSchema = z.object({
  name: z.string(),
  sha256: digest,
  /** Of the member in canonical JSON. */
  bytes: z.int().min(0),
  /** The member itself as canonical JSON, unless it is too big to keep. */
  text: z.string().optional(),
});
export const pinSchema = z.object({ format: z.int(), sha256: digest, fields: z.array(fieldSchema) });

export type PinnedField = Readonly<z.output<typeof fieldSchema>>;

/** The digest of a thing, member by member, so that a change can be named. */
export interface Pin {
  readonly format: number;
  readonly sha256: string;
  /** Sorted by name. */
  readonly fields: readonly PinnedField[];
}

/** Over all members there are, known or not: what a model sees of a tool, or what runs and with which limits. */
export function pinOf(thing: JsonObject): Pin {
  const fields = Object.keys(thing)
    .filter((name) => thing[name] !== undefined)
    .sort()
    .map((name): PinnedField => {
      const text = canonicalJson(thing[name]);
      const bytes = Buffer.byteLength(text);
      return { name, sha256: sha256(text), bytes, ...(bytes <= MAX_KEPT_BYTES ? { text } : {}) };
    });
  return { format: PIN_FORMAT, sha256: sha256(canonicalJson([PIN_FORMAT, fields.map((field) => [field.name, field.sha256])])), fields };
}

/** Digest and size of the canonical input schema of a pinned tool, for a person to compare. */
export function schemaOf(pin: Pin): { readonly sha256: string; readonly bytes: number } | undefined {
  const field = pin.fields.find(({ name }) => name === 'inputSchema');
  return field === undefined ? undefined : { sha256: field.sha256, bytes: field.bytes };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
