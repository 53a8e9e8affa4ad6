import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type FormattingOptions, modify } from 'jsonc-parser';
import { AppError } from '../errors.ts';
import { checkFile } from './check-file.ts';
import { type Json, parseJsonc } from './parse.ts';

export type Entry = Readonly<Record<string, unknown>>;

/** One server of the configuration as it is to be, or made of what stands there once nobody else writes; no entry: it goes. */
export interface ServerChange {
  readonly name: string;
  readonly entry: Entry | undefined | ((now: Entry | undefined) => Entry | undefined);
}

const BOM = '\uFEFF';

/**
 * The text of an operator's file with other servers in it: comments, order and everything else stay as they are. Whole entries are
 * compared key by key, so that comments inside one stay where only a key of it changes. AppError config_invalid where the file is no good before.
 */
export function editServers(file: string, before: string, changes: readonly ServerChange[]): string {
  const mark = before.startsWith(BOM) ? BOM : '';
  let text = before.slice(mark.length);
  if (text.trim() === '') text = '{}\n';
  const known = readServers(file, text);
  const options = { formattingOptions: formattingOf(text) };
  const set = (path: readonly string[], value: unknown): void => {
    text = applyEdits(text, modify(text, [...path], value, options));
  };
  const wanted = new Map(Object.entries(known.servers));
  for (const { name, entry: given } of changes) {
    const old = wanted.get(name);
    const entry = typeof given === 'function' ? given(isMap(old) ? old : undefined) : given;
    if (entry === undefined) {
      wanted.delete(name);
      if (old !== undefined) set([known.key, name], undefined);
      continue;
    }
    wanted.set(name, entry as Json);
    if (!isMap(old)) set([known.key, name], entry);
    else {
      for (const key of Object.keys(old)) if (!Object.hasOwn(entry, key)) set([known.key, name, key], undefined);
      for (const [key, value] of Object.entries(entry)) if (!same(old[key], value)) set([known.key, name, key], value);
    }
  }
  // Whoever edits what a person wrote looks whether it says what it was meant to say, and nothing else.
  const after = readServers(file, text);
  if (!same(after.servers, Object.fromEntries(wanted)) || !same(after.rest, known.rest)) {
    throw new AppError('internal', `${file} would not say what was meant; it is left as it was.`);
  }
  return mark + text;
}

function readServers(file: string, text: string): { readonly key: string; readonly servers: Record<string, Json>; readonly rest: object } {
  const checked = checkFile(file, { state: 'text', text });
  if (!checked.ok) {
    const [first] = checked.problems;
    const line = first?.line === undefined ? '' : `:${first.line}`;
    throw new AppError('config_invalid', `${file}${line}: ${first?.message ?? 'it is unreadable'}. Nothing was written.`, {
      fix: first?.fix ?? 'Mend it first; `writ config check` says all of it.',
    });
  }
  const parsed = parseJsonc(text);
  const value = parsed.ok && isMap(parsed.parsed.value) ? parsed.parsed.value : {};
  const key = 'mcpServers' in value ? 'mcpServers' : 'mcp_servers';
  const { [key]: servers, ...rest } = value;
  return { key, servers: isMap(servers) ? servers : {}, rest };
}

function formattingOf(text: string): FormattingOptions {
  const [, indent = '  '] = /\n([ \t]+)\S/.exec(text) ?? [];
  const tabs = indent.startsWith('\t');
  return { insertSpaces: !tabs, tabSize: tabs ? 1 : Math.min(indent.length, 8), eol: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** What is read has no prototype, what is written has: only the data counts. */
function same(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(plain(one), plain(other));
}

function plain(value: unknown): unknown {
  return value === undefined ? undefined : (JSON.parse(JSON.stringify(value)) as unknown);
}

function isMap(value: unknown): value is Record<string, Json> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
