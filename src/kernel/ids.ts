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
  let time = '';
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = (CROCKFORD[rest % 32] ?? '0') + time;
  // Node keeps randomness in store for UUIDs and for nothing else; their digits at both ends are all random, 30 bits of each are taken.
  const uuid = randomUUID();
  const tail = letters(Number.parseInt(uuid.slice(0, 8), 16)) + letters(Number.parseInt(uuid.slice(-8), 16));
  return `${prefix}_${time}${tail}` as Id<Prefix>;
}

/** The lowest 30 bits as six characters. */
function letters(bits: number): string {
  let text = '';
  for (let i = 0; i < 6; i++) text += CROCKFORD[(bits >>> (i * 5)) & 31] ?? '0';
  return text;
}

/** True for a string of the shape that `newId(prefix)` makes. Ids become file names: nothing else may pass. */
export function isId<Prefix extends string>(prefix: Prefix, value: unknown): value is Id<Prefix> {
  return typeof value === 'string' && value.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{22}$/.test(value.slice(prefix.length + 1));
}
