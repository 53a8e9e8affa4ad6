import { visible } from '../../kernel/visible.ts';
import { differing } from '../hardening/clean-text.ts';
import type { Pin, PinnedField } from './pin.ts';
import { schemaOf } from './pin.ts';

/**
 * One place that differs. Texts are on one line, safe to print, from a little before the first difference on; at most 4,000 characters of
 * each, so that an order can't hide behind a long beginning.
 */
export interface Change {
  /** `description`, `inputSchema.properties.q.type`. */
  readonly path: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly before?: string;
  readonly after?: string;
}

export interface Difference {
  readonly changes: readonly Change[];
  /** How many more there are. */
  readonly left_out: number;
  readonly before?: { readonly sha256: string; readonly schema?: { readonly sha256: string; readonly bytes: number } };
  readonly after: { readonly sha256: string; readonly schema?: { readonly sha256: string; readonly bytes: number } };
}

const MAX_CHANGES = 50;
const PATH_CHARS = 200;
const TEXT_CHARS = 4_000;

/** What changed, for a person who is to say yes to it. Without `before`: all that there is. */
export function difference(before: Pin | undefined, after: Pin): Difference {
  const found: Change[] = [];
  const old = new Map((before?.fields ?? []).map((field) => [field.name, field]));
  for (const field of after.fields) {
    const was = old.get(field.name);
    old.delete(field.name);
    if (was?.sha256 !== field.sha256) compareFields(was, field, found);
  }
  for (const field of old.values()) found.push({ path: shownPath(field.name), kind: 'removed', before: shownField(field) });
  return {
    changes: found.slice(0, MAX_CHANGES),
    left_out: Math.max(0, found.length - MAX_CHANGES),
    ...(before === undefined ? {} : { before: summary(before) }),
    after: summary(after),
  };
}

/** The same as lines of text, for a terminal or a form. */
export function differenceLines({ changes, left_out, before, after }: Difference): readonly string[] {
  const lines = changes.flatMap(({ path, kind, before: was, after: is }) => [
    `${path}: ${kind}`,
    ...(was === undefined ? [] : [`  - ${was}`]),
    ...(is === undefined ? [] : [`  + ${is}`]),
  ]);
  if (left_out > 0) lines.push(`and ${left_out} more`);
  const schema = (one: Difference['after'] | undefined): string =>
    one?.schema === undefined ? 'none' : `${one.schema.bytes} bytes, SHA-256 ${one.schema.sha256}`;
  if (before?.schema !== undefined && before.schema.sha256 !== after.schema?.sha256) lines.push(`input schema before: ${schema(before)}`);
  if (after.schema !== undefined) lines.push(`input schema: ${schema(after)}`);
  return lines;
}

function compareFields(was: PinnedField | undefined, is: PinnedField, found: Change[]): void {
  if (was === undefined) found.push({ path: shownPath(is.name), kind: 'added', after: shownField(is) });
  else if (was.text === undefined || is.text === undefined) {
    found.push({ path: shownPath(is.name), kind: 'changed', before: shownField(was), after: shownField(is) });
  } else compare(JSON.parse(was.text), JSON.parse(is.text), is.name, found);
}

/** Kept fields are at most 16 KiB, and hardening lets nothing deep through. */
function compare(was: unknown, is: unknown, path: string, found: Change[]): void {
  if (isContainer(was) && isContainer(is) && Array.isArray(was) === Array.isArray(is)) {
    const [before, after] = [new Map(Object.entries(was)), new Map(Object.entries(is))];
    for (const name of new Set([...before.keys(), ...after.keys()])) {
      const inner = `${path}.${name}`;
      if (!after.has(name)) found.push({ path: shownPath(inner), kind: 'removed', before: shown(before.get(name)) });
      else if (!before.has(name)) found.push({ path: shownPath(inner), kind: 'added', after: shown(after.get(name)) });
      else compare(before.get(name), after.get(name), inner, found);
    }
    return;
  }
  const [one, two] = [JSON.stringify(was), JSON.stringify(is)];
  if (one !== two) found.push({ path: shownPath(path), kind: 'changed', ...differing(one, two, TEXT_CHARS) });
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function summary(pin: Pin): Difference['after'] {
  const schema = schemaOf(pin);
  return { sha256: pin.sha256, ...(schema === undefined ? {} : { schema }) };
}

function shownField({ text, bytes, sha256 }: PinnedField): string {
  return text === undefined ? `${bytes} bytes, SHA-256 ${sha256}` : differing('', text, TEXT_CHARS).after;
}

function shown(value: unknown): string {
  return differing('', JSON.stringify(value), TEXT_CHARS).after;
}

function shownPath(path: string): string {
  return visible(path).slice(0, PATH_CHARS);
}
