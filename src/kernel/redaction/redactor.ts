import { findAssignment } from './assignment.ts';
import { type Finder, LOOK_BEHIND } from './finder.ts';
import { isSecretValue } from './judge.ts';
import { findKnown, knownForms } from './known.ts';
import { secretClass } from './names.ts';
import { findPrivateKey } from './pem.ts';
import { buildIndex, type Span, scan } from './scan.ts';
import { shapeFinder } from './shape-finder.ts';
import { SHAPES } from './shapes.ts';
import { findUrlPassword } from './url.ts';

export interface RedactionStream {
  /** What can be said for certain so far: everything but at most `MAX_HELD` characters. */
  push(text: string): string;
  /** The rest. What follows is a new text. */
  flush(): string;
}

/** Takes secrets out of what leaves Writ, leaving `[redacted:KIND]`. Pure and reusable. */
export interface Redactor {
  /** Linear in the length; redacting twice changes nothing; the answer is at most `GROWTH` times as long. */
  text(text: string): string;
  /** The same for JSON, keys considered. Anything deeper than 64 levels is left out as `[redacted:too_deep]`. */
  value(value: unknown): unknown;
  /**
   * A piece of a text, with what stands right before and after it: a secret that the cut goes through is taken out on both sides.
   */
  part(before: string, text: string, after: string): string;
  /** Where the secrets of a text are, in order and apart from each other. */
  find(text: string): readonly Span[];
  /** For text that comes in pieces: the pieces joined are what `text` answers for the whole, whatever the cuts. */
  stream(): RedactionStream;
}

/** Most characters a stream holds back, plus the longest known value. */
export const MAX_HELD = 17_000;
export const GROWTH = 8;
const MAX_DEPTH = 64;
/** Names of members that were judged before: there are few, and they come again with every call. */
const MAX_NAMES = 1_000;

/** An existing marker stays, with the name that file tools give it too, and what stands around it is judged as if the secret were still there. */
const MARKER = /\[redacted:[a-z_]{1,40}(?:#[0-9a-f]{12})?\]/y;
const findMarker: Finder = (text, at, { final }) => {
  MARKER.lastIndex = at;
  if (MARKER.test(text)) return { from: at, to: MARKER.lastIndex, kind: undefined };
  return !final && text.length - at < 65 && /^\[r[a-z_:]*(?:#[0-9a-f]*)?$/.test(text.slice(at)) ? 'more' : undefined;
};

/** Words inside names that `findAssignment` looks closer at. */
const NAME_TRIGGERS = ['pas', 'pwd', 'token', 'secret', 'key', 'cred', 'cookie'];

export function createRedactor({ known_values = [] }: { readonly known_values?: readonly string[] } = {}): Redactor {
  const index = buildIndex([
    { triggers: ['[redacted:'], find: findMarker },
    ...knownForms(known_values).map((form) => ({ triggers: [form], find: findKnown(form) })),
    { triggers: ['PRIVATE KEY'], find: findPrivateKey },
    { triggers: ['://'], find: findUrlPassword },
    ...SHAPES.map((shape) => ({ triggers: shape.triggers, find: shapeFinder(shape) })),
    { triggers: NAME_TRIGGERS, find: findAssignment },
  ]);

  const judged = new Map<string, ReturnType<typeof secretClass>>();
  const classOf = (name: string): ReturnType<typeof secretClass> => {
    if (judged.has(name)) return judged.get(name);
    const found = secretClass(name);
    if (judged.size >= MAX_NAMES) judged.clear();
    judged.set(name, found);
    return found;
  };

  const underName = (given: string, name: string | undefined): string => {
    if (name === undefined || name.length > 200) return given;
    const kind = classOf(name);
    return kind !== undefined && isSecretValue(given, kind, 'quoted', name) ? `[redacted:${kind}]` : given;
  };

  const text = (given: string): string => {
    const { out, found } = scan(index, { text: given, emitted: 0, floor: 0, final: true });
    return found ? out : given;
  };

  const value = (given: unknown, depth: number, name: string | undefined): unknown => {
    if (typeof given === 'string') return text(underName(given, name));
    if (typeof given === 'number')
      return name !== undefined && underName(String(given), name) !== String(given) ? '[redacted:password]' : given;
    if (given === null || typeof given !== 'object') return given;
    if (depth >= MAX_DEPTH) return '[redacted:too_deep]';
    if (Array.isArray(given)) return given.map((item) => value(item, depth + 1, name));
    const copy: Record<string, unknown> = {};
    for (const [key, item] of Object.entries(given)) {
      // defineProperty, so that a key named __proto__ stays a key
      Object.defineProperty(copy, text(key), { value: value(item, depth + 1, key), enumerable: true, writable: true, configurable: true });
    }
    return copy;
  };

  const find: Redactor['find'] = (given) => {
    const spans: Span[] = [];
    scan(index, { text: given, emitted: 0, floor: 0, final: true, spans });
    return spans;
  };

  const part: Redactor['part'] = (before, given, after) => {
    const spans: Span[] = [];
    scan(index, { text: before + given + after, emitted: 0, floor: 0, final: true, spans });
    const end = before.length + given.length;
    let out = '';
    let done = before.length;
    for (const { from, to, kind } of spans) {
      if (to <= done || from >= end) continue;
      out += `${(before + given).slice(done, Math.max(done, from))}[redacted:${kind}]`;
      done = Math.min(to, end);
    }
    return out + (before + given).slice(done);
  };

  return { text, part, find, value: (given) => value(given, 0, undefined), stream: () => createStream(index) };
}

function createStream(index: Parameters<typeof scan>[0]): RedactionStream {
  let buffer = '';
  let emitted = 0;
  let floor = 0;
  let run: RegExp | undefined;

  const pass = (final: boolean): string => {
    // A backslash says nothing without what it escapes.
    const whole = final ? buffer.length : buffer.length - trailingBackslashes(buffer, emitted);
    const text = buffer.slice(0, whole);
    if (run !== undefined) {
      run.lastIndex = emitted;
      run.test(text);
      emitted = Math.max(emitted, run.lastIndex);
      floor = emitted;
      if (emitted === text.length && !final) return '';
      run = undefined;
    }
    const result = scan(index, { text, emitted, floor, final });
    ({ emitted, floor, run } = { run: undefined, ...result });
    return result.out;
  };

  return {
    push(text) {
      if (text === '') return '';
      buffer += text;
      const out = pass(false);
      const cut = Math.max(0, emitted - LOOK_BEHIND);
      buffer = buffer.slice(cut);
      emitted -= cut;
      floor = Math.max(0, floor - cut);
      return out;
    },
    flush() {
      const out = pass(true);
      buffer = '';
      emitted = 0;
      floor = 0;
      run = undefined;
      return out;
    },
  };
}

function trailingBackslashes(text: string, from: number): number {
  let count = 0;
  while (count < 16 && text.length - count > from && text.charCodeAt(text.length - 1 - count) === 92) count++;
  return count;
}
