import { randomBytes } from 'node:crypto';

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
  let tail = '';
  for (const byte of randomBytes(12)) tail += CROCKFORD[byte % 32] ?? '0';
  return `${prefix}_${time}${tail}` as Id<Prefix>;
}

/** True for a string of the shape that `newId(prefix)` makes. Ids become file names: nothing else may pass. */
export function isId<Prefix extends string>(prefix: Prefix, value: unknown): value is Id<Prefix> {
  return typeof value === 'string' && value.startsWith(`${prefix}_`) && /^[0-9a-hjkmnp-tv-z]{22}$/.test(value.slice(prefix.length + 1));
}
