import { createScanner, type Node, type ParseError, parseTree, printParseErrorCode } from 'jsonc-parser';
import type { ConfigNote } from './result.ts';

// jsonc-parser declares these as an ambient const enum, which a compiler of single files can't read.
const TOKEN = { open_brace: 1, close_brace: 2, open_bracket: 3, close_bracket: 4, end: 17 };

/** Deeper than any real configuration; keeps the recursive parser off hostile text. */
const MAX_DEPTH = 32;

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type Path = readonly (string | number)[];

/** JSONC text as plain data, and the line each value stands on. */
export interface ParsedConfig {
  readonly value: Json;
  /** Line (from 1) of the value at `path`, or of the nearest one above it. */
  lineOf(path: Path): number;
}

export type ParseResult =
  | { readonly ok: true; readonly parsed: ParsedConfig }
  | { readonly ok: false; readonly problems: readonly Pick<ConfigNote, 'message' | 'fix' | 'line'>[] };

export function parseJsonc(source: string): ParseResult {
  const text = source.startsWith('\uFEFF') ? source.slice(1) : source;
  const lineAt = lineIndex(text);
  const deep = tooDeepAt(text);
  if (deep !== undefined) return problem(`is nested more than ${MAX_DEPTH} levels deep`, lineAt(deep));
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: false });
  const [first] = errors;
  if (first !== undefined) return problem(`is no valid JSON: ${words(printParseErrorCode(first.error))}`, lineAt(first.offset));
  if (root === undefined) return problem('is empty', 1, 'Write {} or remove the file.');
  if (root.type !== 'object') return problem('must hold one object {...}', lineAt(root.offset));
  const lines = new Map<string, number>();
  const problems: { message: string; fix?: string; line: number }[] = [];
  const value = read(
    root,
    [],
    (path, node) => lines.set(key(path), lineAt(node.offset)),
    (path, name, firstNode, again) => {
      const where = path.length === 0 ? '' : ` in ${shown(path)}`;
      const message = `has the key ${quoted(name)} twice${where}: in line ${lineAt(firstNode.offset)} and in line ${lineAt(again.offset)}`;
      problems.push({ message, fix: 'Keep one of the two.', line: lineAt(again.offset) });
    },
  );
  if (problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    parsed: {
      value,
      lineOf(path) {
        for (let length = path.length; length > 0; length--) {
          const line = lines.get(key(path.slice(0, length)));
          if (line !== undefined) return line;
        }
        return 1;
      },
    },
  };
}

function problem(message: string, line: number, fix?: string): ParseResult {
  return { ok: false, problems: [{ message, line, ...(fix === undefined ? {} : { fix }) }] };
}

/** Objects are made without a prototype, so that a key like `__proto__` is data like any other. */
function read(
  node: Node,
  path: Path,
  seen: (path: Path, node: Node) => void,
  duplicate: (path: Path, name: string, first: Node, again: Node) => void,
): Json {
  if (node.type === 'array') {
    return (node.children ?? []).map((child, index) => {
      seen([...path, index], child);
      return read(child, [...path, index], seen, duplicate);
    });
  }
  if (node.type !== 'object') return node.value as null | boolean | number | string;
  const result: Record<string, Json> = Object.create(null);
  const names = new Map<string, Node>();
  for (const property of node.children ?? []) {
    const [name, value] = property.children ?? [];
    if (name === undefined || value === undefined) continue;
    const text = String(name.value);
    const before = names.get(text);
    if (before !== undefined) duplicate(path, text, before, name);
    names.set(text, name);
    seen([...path, text], name);
    result[text] = read(value, [...path, text], seen, duplicate);
  }
  return result;
}

function tooDeepAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token = scanner.scan(); token !== TOKEN.end; token = scanner.scan()) {
    if (token === TOKEN.open_brace || token === TOKEN.open_bracket) {
      if (++depth > MAX_DEPTH) return scanner.getTokenOffset();
    } else if (token === TOKEN.close_brace || token === TOKEN.close_bracket) depth--;
  }
  return undefined;
}

function lineIndex(text: string): (offset: number) => number {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

function key(path: Path): string {
  return JSON.stringify(path);
}

export function shown(path: Path): string {
  return path.map((part) => (typeof part === 'number' || /^[\w-]{1,64}$/.test(part) ? part : quoted(part))).join('.');
}

/** Keys of an untrusted file go into messages: short, and without control characters. */
export function quoted(name: string): string {
  return quotedUpTo(60, name);
}

/** Longer, since the end of a path is what it is about. */
export function quotedPath(path: string): string {
  return quotedUpTo(300, path);
}

function quotedUpTo(most: number, text: string): string {
  const short = text.length > most ? `${text.slice(0, most)}…` : text;
  return JSON.stringify(short).replace(
    /[\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function words(code: string): string {
  return code.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase();
}
