import { randomUUID } from 'node:crypto';

/** A string that can only be made by the functions of this file, so that one kind of id never passes for another. */
export type Id<Prefix extends string> = string & { readonly __id: Prefix };

export type ActionId = Id<'act'>;
export type RunId = Id<'run'>;
export type ExecId = Id<'exec'>;
export type JobId = Id<'job'>;
export type WorkspaceId = Id<'ws'>;

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz';

/**
 * `prefix_` + 10 characters of time + 12 of randomness (60 bits): sorts by creation time and can't be guessed,
 * which matters because an id of a spool or a job is looked up by whoever names it.
 */
export function newId<Prefix extends string>(prefix: Prefix, now: number = Date.now()): Id<Prefix> {
  // Node keeps randomness in store for UUIDs and for nothing else; their digits at both ends are all random, 30 bits of each are taken.
  const uuid = randomUUID();
  const tail = letters(Number.parseInt(uuid.slice(0, 8), 16)) + letters(Number.parseInt(uuid.slice(-8), 16));
  const high = Math.floor(now / 2 ** 30);
  return `${prefix}_${pair(high >>> 10)}${pair(high)}${letters(now % 2 ** 30)}${tail}` as Id<Prefix>;
}

/** Two characters at a time: every call makes several ids, and each piece that they are put together from is an object. */
const PAIRS: readonly string[] = [...CROCKFORD].flatMap((first) => [...CROCKFORD].map((second) => first + second));

/** The lowest 10 bits. */
function pair(bits: number): string {
  return PAIRS[bits & 1023] ?? '';
}

/** The lowest 30 bits as six characters. */
function letters(bits: number): string {
  return pair(bits >>> 20) + pair(bits >>> 10) + pair(bits);
}

/** True for a string of the shape that `newId(prefix)` makes. Ids become file names: nothing else may pass. */
export function isId<Prefix extends string>(prefix: Prefix, value: unknown): value is Id<Prefix> {
  return typeof value === 'string' && value.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{22}$/.test(value.slice(prefix.length + 1));
}
