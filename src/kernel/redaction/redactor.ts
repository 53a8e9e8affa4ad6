import { findAssignment } from './assignment.ts';
import { type Finder, LOOK_BEHIND, runEnd } from './finder.ts';
import { isSecretValue } from './judge.ts';
import { findKnown, knownForms } from './known.ts';
import { createLearned, type Learned } from './learned.ts';
import { secretClass } from './names.ts';
import { findPrivateKey } from './pem.ts';
import { buildIndex, type Index, type Span, scan } from './scan.ts';
import { shapeFinder } from './shape-finder.ts';
import { SHAPES } from './shapes.ts';
import { findUrlPassword } from './url.ts';

export interface RedactionStream {
  /** What can be said for certain so far: everything but at most `MAX_HELD` characters. */
  push(text: string): string;
  /** The rest. What follows is a new text. */
  flush(): string;
}

/** What has no secret in it is given back as it came, the very same object. */
export interface Masker {
  /** Linear in the length; redacting twice changes nothing; the answer is at most `GROWTH` times as long. */
  text(text: string): string;
  /** The same for JSON, keys considered. Anything deeper than 64 levels is left out as `[redacted:too_deep]`. */
  value(value: unknown): unknown;
}

/** Takes secrets out of what leaves Writ, leaving `[redacted:KIND]`. The same text gives the same answer until something is learned. */
export interface Redactor extends Masker {
  /** Takes out only what is known to be secret by its value: for what must arrive byte by byte otherwise (schemas, addresses). */
  readonly known: Masker;
  /** Such values are secret from now on, here and in every redactor that was made of this one. `source`: whose they are (learned.ts). */
  learn(source: string, values: readonly string[]): void;
  /** One that knows more values, and learns with this one. */
  with(known_values: readonly string[]): Redactor;
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

/** Longer ones are no names of anything, and are not kept. */
const MAX_NAME = 200;

/** The name of a member, as it may be shown, and the kind of secret that stands under it. */
interface Name {
  readonly name: string;
  readonly shown: string;
  readonly kind: ReturnType<typeof secretClass>;
}

/** An existing marker stays, with the name that file tools give it too, and what stands around it is judged as if the secret were still there. */
const MARKER = /\[redacted:[a-z_]{1,40}(?:#[0-9a-f]{12})?\]/y;
const findMarker: Finder = (text, at, { final }) => {
  MARKER.lastIndex = at;
  if (MARKER.test(text)) return { from: at, to: MARKER.lastIndex, kind: undefined };
  return !final && text.length - at < 65 && /^\[r[a-z_:]*(?:#[0-9a-f]*)?$/.test(text.slice(at)) ? 'more' : undefined;
};

/** Words inside names that `findAssignment` looks closer at. */
const NAME_TRIGGERS = ['pas', 'pwd', 'token', 'secret', 'key', 'cred', 'cookie'];

export interface RedactorOptions {
  readonly known_values?: readonly string[];
  readonly learned?: Learned;
}

export function createRedactor({ known_values = [], learned = createLearned() }: RedactorOptions = {}): Redactor {
  const marker = { triggers: ['[redacted:'], find: findMarker };
  const looks = [
    { triggers: ['PRIVATE KEY'], find: findPrivateKey },
    { triggers: ['://'], find: findUrlPassword },
    ...SHAPES.map((shape) => ({ triggers: shape.triggers, find: shapeFinder(shape) })),
    { triggers: NAME_TRIGGERS, find: findAssignment },
  ];
  let built: { readonly version: number; readonly all: Index; readonly known: Index } | undefined;
  /** Of now: what is learned holds at once, for streams under way too. */
  const indexes = (): { readonly all: Index; readonly known: Index } => {
    const version = learned.version();
    if (built?.version === version) return built;
    const values = [...known_values, ...learned.values()];
    const known = [marker, ...knownForms(values).map((form) => ({ triggers: [form], find: findKnown(form) }))];
    built = { version, all: buildIndex([...known, ...looks]), known: buildIndex(known) };
    return built;
  };
  const all = (): Index => indexes().all;

  const find: Redactor['find'] = (given) => {
    const spans: Span[] = [];
    scan(all(), { text: given, emitted: 0, floor: 0, final: true, spans });
    return spans;
  };

  const part: Redactor['part'] = (before, given, after) => {
    const end = before.length + given.length;
    let out = '';
    let done = before.length;
    for (const { from, to, kind } of find(before + given + after)) {
      if (to <= done || from >= end) continue;
      out += `${(before + given).slice(done, Math.max(done, from))}[redacted:${kind}]`;
      done = Math.min(to, end);
    }
    return out + (before + given).slice(done);
  };

  return {
    ...createMasker(all, secretClass),
    known: createMasker(
      () => indexes().known,
      () => undefined,
    ),
    part,
    find,
    stream: () => createStream(all),
    learn: learned.add,
    with: (more) => createRedactor({ known_values: [...known_values, ...more], learned }),
  };
}

/** `classOf`: what stands under the name of a member. */
function createMasker(index: () => Index, classOf: typeof secretClass): Masker {
  const names = new Map<string, Name>();
  let judgedBy: Index | undefined;
  const judge = (name: string): Name => {
    const now = index();
    if (now !== judgedBy) names.clear();
    judgedBy = now;
    const known = names.get(name);
    if (known !== undefined) return known;
    const found = { name, shown: text(name), kind: name.length > MAX_NAME ? undefined : classOf(name) };
    if (name.length > MAX_NAME) return found;
    if (names.size >= MAX_NAMES) names.clear();
    names.set(name, found);
    return found;
  };

  const underName = (given: string, under: Name | undefined): string => {
    if (under?.kind === undefined) return given;
    const { name, kind } = under;
    return isSecretValue(given, kind, 'quoted', name) ? `[redacted:${kind}]` : given;
  };

  const text = (given: string): string => {
    const { out, found } = scan(index(), { text: given, emitted: 0, floor: 0, final: true });
    return found ? out : given;
  };

  const value = (given: unknown, depth: number, under: Name | undefined): unknown => {
    if (typeof given === 'string') return text(underName(given, under));
    if (typeof given === 'number')
      return under?.kind !== undefined && underName(String(given), under) !== String(given) ? '[redacted:password]' : given;
    if (given === null || typeof given !== 'object') return given;
    if (depth >= MAX_DEPTH) return '[redacted:too_deep]';
    if (Array.isArray(given)) {
      const items = given.map((item) => value(item, depth + 1, under));
      return items.every((item, i) => item === given[i]) ? given : items;
    }
    return members(given as Record<string, unknown>, depth);
  };

  /** What has no secret in it stays the object it was: most have none. */
  const members = (given: Record<string, unknown>, depth: number): unknown => {
    let copy = isPlain(given) ? undefined : {};
    for (const key of Object.keys(given)) {
      const name = judge(key);
      const item = value(given[key], depth + 1, name);
      if (copy === undefined && (item !== given[key] || name.shown !== key)) copy = upTo(key, given);
      if (copy !== undefined) put(copy, name.shown, item);
    }
    return copy ?? given;
  };

  return { text, value: (given) => value(given, 0, undefined) };
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** A copy of the members before this one. */
function upTo(key: string, given: Record<string, unknown>): Record<string, unknown> {
  const copy = {};
  for (const each of Object.keys(given)) {
    if (each === key) break;
    put(copy, each, given[each]);
  }
  return copy;
}

/** A member named __proto__ stays a member. */
function put(copy: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(copy, name, { value, enumerable: true, writable: true, configurable: true });
  else copy[name] = value;
}

function createStream(index: () => Index): RedactionStream {
  let buffer = '';
  let emitted = 0;
  let floor = 0;
  let run: RegExp | undefined;

  const pass = (final: boolean): string => {
    // A backslash says nothing without what it escapes.
    const whole = final ? buffer.length : buffer.length - trailingBackslashes(buffer, emitted);
    const text = buffer.slice(0, whole);
    if (run !== undefined) {
      emitted = runEnd(run, text, emitted);
      floor = emitted;
      if (emitted === text.length && !final) return '';
      run = undefined;
    }
    const result = scan(index(), { text, emitted, floor, final });
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
