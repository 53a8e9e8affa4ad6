import type { Path } from './parse.ts';
import { SETTINGS, type SettingPath } from './settings.ts';
import { DEFAULT_VERDICTS, NON_INTERACTIVE_WORDS, VERDICT_WORDS } from './types.ts';

/** What became of a project's value: the value that holds now, the parts that are the project's, and the parts that were ignored. */
export interface Tightened {
  readonly value: unknown;
  readonly changed: readonly Path[];
  readonly ignored: readonly { readonly part: Path; readonly why: string }[];
}

/** Mildest first. `dangerous.classes` without an operator's word has the default verdict of policy, given here. */
const ORDERS: Partial<Record<SettingPath, readonly string[]>> = {
  'dangerous.non_interactive': NON_INTERACTIVE_WORDS.toReversed(),
  'sandbox.missing': ['prompt', 'deny'],
};

const VERDICT_ORDER: readonly string[] = VERDICT_WORDS;
const DEFAULTS: Readonly<Record<string, string>> = DEFAULT_VERDICTS;

const MILDER = 'a project file may only tighten, and this is milder than what holds without it';

/** Lays a project's value on the operator's by the rule of the setting. Equal values change nothing and need no warning. */
export function tighten(path: SettingPath, current: unknown, given: unknown): Tightened {
  switch (SETTINGS[path].project) {
    case 'no':
      return same(current, given) ? keep(current) : ignore(current, [], 'a project file may not set it');
    case 'smaller':
      if (Number(given) > Number(current)) return ignore(current, [], MILDER);
      return Number(given) === Number(current) ? keep(current) : { value: given, changed: [[]], ignored: [] };
    case 'stricter':
      return path === 'dangerous.classes' ? stricterClasses(current, given) : stricterWord(path, current, given);
    case 'append': {
      const [before, added] = [list(current), list(given)];
      return { value: [...before, ...added], changed: added.map((_, index) => [before.length + index]), ignored: [] };
    }
    case 'narrow':
      return narrow(current, given);
    case 'add':
      return add(current, given);
  }
}

function stricterWord(path: SettingPath, current: unknown, given: unknown): Tightened {
  const order = ORDERS[path] ?? [];
  const [before, now] = [order.indexOf(String(current)), order.indexOf(String(given))];
  if (now < before) return ignore(current, [], MILDER);
  return now === before ? keep(current) : { value: given, changed: [[]], ignored: [] };
}

function stricterClasses(current: unknown, given: unknown): Tightened {
  const value: Record<string, unknown> = { ...map(current) };
  const changed: Path[] = [];
  const ignored: { part: Path; why: string }[] = [];
  const rank = (word: unknown): number => VERDICT_ORDER.indexOf(String(word));
  for (const [effect, verdict] of Object.entries(map(given))) {
    const before = value[effect] ?? DEFAULTS[effect];
    // Saying the default aloud counts: "destructive: deny" also ends the exception for what is confined to the workspace.
    if (rank(verdict) > rank(before) || (rank(verdict) === rank(before) && value[effect] === undefined)) {
      value[effect] = verdict;
      changed.push([effect]);
    } else if (rank(verdict) < rank(before)) ignored.push({ part: [effect], why: MILDER });
  }
  return { value, changed, ignored };
}

/** A toolset of the operator loses what the project leaves out. A new name is no way to more tools, except that "default" means all of them. */
function narrow(current: unknown, given: unknown): Tightened {
  const value: Record<string, unknown> = { ...map(current) };
  const changed: Path[] = [];
  const ignored: { part: Path; why: string }[] = [];
  for (const [name, tools] of Object.entries(map(given))) {
    const before = Object.hasOwn(value, name) ? list(value[name]) : undefined;
    if (before === undefined && name !== 'default') {
      ignored.push({ part: [name], why: "a project file may narrow the operator's toolsets, not make new ones" });
      continue;
    }
    value[name] = before === undefined ? list(tools) : before.filter((tool) => list(tools).includes(tool));
    changed.push([name]);
  }
  return { value, changed, ignored };
}

function add(current: unknown, given: unknown): Tightened {
  const value: Record<string, unknown> = { ...map(current) };
  const changed: Path[] = [];
  const ignored: { part: Path; why: string }[] = [];
  for (const [name, entry] of Object.entries(map(given))) {
    if (Object.hasOwn(value, name)) ignored.push({ part: [name], why: 'the operator has a server of this name' });
    else {
      value[name] = entry;
      changed.push([name]);
    }
  }
  return { value, changed, ignored };
}

function keep(value: unknown): Tightened {
  return { value, changed: [], ignored: [] };
}

function ignore(value: unknown, part: Path, why: string): Tightened {
  return { value, changed: [], ignored: [{ part, why }] };
}

function map(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
