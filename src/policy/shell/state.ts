import type { CompoundCommand, CompoundList, Redirected } from 'unbash';
import { ALTERNATIVES } from '../budget.ts';
import { HOLE, SOME, type Text } from '../text.ts';
import { eitherStream, type Stream } from './stream.ts';

/** A shell variable: every value it may have here. An array keeps its elements besides. */
export interface Variable {
  readonly values: readonly Text[];
  readonly elements?: readonly Text[];
  /** `declare -n`: the name it stands for. */
  readonly ref?: string;
}

export interface ShellFunction {
  readonly body: CompoundCommand | Redirected | CompoundList;
  /** Where its text lives, when that isn't the command as given. */
  readonly frame: Frame;
}

/** Which text a tree belongs to: positions of a text that was built by folding all point at the words it was built from. */
export interface Frame {
  readonly source: string;
  readonly span?: readonly [start: number, end: number];
}

/** What the shell would know at one point. Never changed in place: branches share it. */
export interface State {
  readonly vars: ReadonlyMap<string, Variable>;
  readonly functions: ReadonlyMap<string, ShellFunction>;
  readonly aliases: ReadonlyMap<string, Text>;
  /** Files written by this very command, by path. */
  readonly files: ReadonlyMap<string, Stream>;
  /** Descriptors above 2 and replaced standard ones. */
  readonly fds: ReadonlyMap<number, Stream>;
  /** Every folder this could be; HOLE: any. */
  readonly cwd: readonly Text[];
  readonly oldcwd: readonly Text[];
  readonly stack: readonly (readonly Text[])[];
  /** `$1`...; undefined: not known. */
  readonly args: readonly Text[] | undefined;
}

export function withEntry<K, V>(map: ReadonlyMap<K, V>, key: K, value: V): ReadonlyMap<K, V> {
  const copy = new Map(map);
  copy.set(key, value);
  return copy;
}

export function without<K, V>(map: ReadonlyMap<K, V>, key: K): ReadonlyMap<K, V> {
  if (!map.has(key)) return map;
  const copy = new Map(map);
  copy.delete(key);
  return copy;
}

/** Distinct values, or "anything" where there are too many to tell apart. */
export function distinct(values: readonly Text[]): readonly Text[] {
  if (values.length < 2) return values;
  const set = [...new Set(values)];
  if (set.length <= ALTERNATIVES) return set;
  return [set.every((value) => /^[\w\uFDD2]+$/.test(value)) ? SOME : HOLE];
}

const UNSET: Variable = { values: [HOLE] };

function joinVariable(a: Variable, b: Variable): Variable {
  if (a === b) return a;
  const joined = { values: distinct([...a.values, ...b.values]) };
  if (a.ref !== undefined || b.ref !== undefined)
    return a.ref === b.ref && a.ref !== undefined ? { ...joined, ref: a.ref } : { values: [HOLE] };
  if (a.elements === undefined && b.elements === undefined) return joined;
  const length = Math.max(a.elements?.length ?? 1, b.elements?.length ?? 1);
  const at = (variable: Variable, index: number): Text | undefined =>
    variable.elements?.[index] ?? (index === 0 ? variable.values[0] : undefined);
  return { ...joined, elements: Array.from({ length }, (_, i) => (at(a, i) === at(b, i) ? (at(a, i) ?? HOLE) : HOLE)) };
}

function joinMaps<K, V>(a: ReadonlyMap<K, V>, b: ReadonlyMap<K, V>, join: (x: V | undefined, y: V | undefined) => V): ReadonlyMap<K, V> {
  if (a === b) return a;
  const joined = new Map<K, V>();
  for (const [key, value] of a) joined.set(key, join(value, b.get(key)));
  for (const [key, value] of b) if (!a.has(key)) joined.set(key, join(undefined, value));
  return joined;
}

const joinLists = (a: readonly Text[], b: readonly Text[]): readonly Text[] => (a === b ? a : distinct([...a, ...b]));
const same = (a: readonly Text[] | undefined, b: readonly Text[] | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.length === b.length && a.every((value, i) => value === b[i]));

/** Whichever of the two it was. What only one side knows may also not be so. */
export function joinStates(a: State, b: State): State {
  if (a === b) return a;
  return {
    vars: joinMaps(a.vars, b.vars, (x, y) => joinVariable(x ?? UNSET, y ?? UNSET)),
    functions: joinMaps(a.functions, b.functions, (x, y) => (y ?? x) as ShellFunction),
    aliases: joinMaps(a.aliases, b.aliases, (x, y) => (y ?? x) as Text),
    files: joinMaps(a.files, b.files, (x, y) => (x !== undefined && y !== undefined ? eitherStream(x, y) : ((x ?? y) as Stream))),
    fds: joinMaps(a.fds, b.fds, (x, y) => (x !== undefined && y !== undefined ? eitherStream(x, y) : ((x ?? y) as Stream))),
    cwd: joinLists(a.cwd, b.cwd),
    oldcwd: joinLists(a.oldcwd, b.oldcwd),
    stack: a.stack.length <= b.stack.length ? a.stack : b.stack,
    args: same(a.args, b.args) ? a.args : undefined,
  };
}

export function initialState(cwd: Text, home: Text): State {
  return {
    vars: new Map<string, Variable>([
      ['HOME', { values: [home] }],
      ['IFS', { values: [' \t\n'] }],
    ]),
    functions: new Map(),
    aliases: new Map(),
    files: new Map(),
    fds: new Map(),
    cwd: [cwd],
    oldcwd: [cwd],
    stack: [],
    args: [],
  };
}

/** Nothing that a second round could see differently. */
export function sameState(a: State, b: State): boolean {
  if (a === b) return true;
  if (!same(a.cwd, b.cwd) || !same(a.oldcwd, b.oldcwd) || !same(a.args, b.args) || a.functions.size !== b.functions.size) return false;
  if (a.vars !== b.vars) {
    if (a.vars.size !== b.vars.size) return false;
    for (const [name, variable] of a.vars) {
      const other = b.vars.get(name);
      if (other === undefined || !same(variable.values, other.values) || !same(variable.elements, other.elements)) return false;
    }
  }
  return a.files.size === b.files.size && a.fds.size === b.fds.size;
}

/** What changed between two rounds is not known any more. */
export function widened(before: State, after: State): State {
  const vars = new Map<string, Variable>();
  for (const [name, variable] of after.vars) {
    const old = before.vars.get(name);
    const stable = old !== undefined && same(old.values, variable.values) && same(old.elements, variable.elements);
    vars.set(name, stable ? variable : { values: [HOLE], ...(variable.elements === undefined ? {} : { elements: [HOLE] }) });
  }
  return {
    ...after,
    vars,
    cwd: same(before.cwd, after.cwd) ? after.cwd : [HOLE],
    args: same(before.args, after.args) ? after.args : undefined,
  };
}
