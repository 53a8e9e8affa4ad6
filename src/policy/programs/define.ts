import { LOCAL, type Stream, worseOrigin } from '../shell/stream.ts';
import { isUnknown, type Text } from '../text.ts';
import type { Effect } from '../types.ts';
import { type OptionTable, optionTable, type Role, readWords, type Words } from './options.ts';
import type { Call, Program } from './program.ts';

/** One line of a family's table. */
export interface Line {
  /** See options.ts. */
  readonly options?: string;
  /**
   * What the words without a dash are: roles in order, the last one for all that follow. `-r`: the first is data, the rest is read.
   * `r>w`: the last is written, the others are read.
   */
  readonly words?: string;
  /** Options that take the place of a first data word (`grep -e`). */
  readonly instead?: string;
  /** Effects of every call, with their reason. */
  readonly does?: readonly (readonly [Effect, string])[];
  /** What it prints: `paths` below its operands, text out of a decoder, or what it read. */
  readonly prints?: 'paths' | 'decoded' | 'some';
  /** Long options have one dash. */
  readonly oneDash?: boolean;
  /** More than the table can say. */
  readonly also?: (call: Call, words: Words) => Stream | undefined;
}

const VERBS: Readonly<Record<Role, (call: Call, value: Text, option: string) => Stream | undefined>> = {
  '-': () => undefined,
  l: (call, value) => {
    call.lists(value);
    return undefined;
  },
  r: (call, value) => (value === '-' ? call.stdin : call.read(value)),
  w: (call, value) => {
    if (value !== '-') call.write(value);
    return undefined;
  },
  d: (call, value) => {
    call.remove(value, false);
    return undefined;
  },
  x: (call, value) => {
    call.report('code_execution', `${call.name} hands text to a shell`);
    return call.shell(value);
  },
  p: (call, value) => {
    if (isUnknown(value)) call.report('unknown', `${call.name} runs a program that cannot be known from the text`);
    else call.runsText(value, `${call.name} starts another program`);
    return undefined;
  },
  c: (call) => {
    call.report('code_execution', `${call.name} takes configuration that can name a program`);
    return undefined;
  },
  n: (call, value) => {
    call.network(`${call.name} reaches another host`, [value]);
    return undefined;
  },
  u: (call) => {
    call.report('unknown', `an option of ${call.name} cannot be decided from the text`);
    return undefined;
  },
};

export function applyRole(call: Call, role: Role, value: Text, option: string): Stream | undefined {
  return VERBS[role](call, value, option);
}

export function program(line: Line = {}): Program {
  const table: OptionTable = optionTable(line.options ?? '', line.oneDash ?? false);
  const roles = line.words ?? '-';
  const instead = (line.instead ?? '').split(' ').filter((name) => name !== '');
  return (call) => {
    const words = readWords(call.args, table);
    let out: Stream = call.stdin.none ? LOCAL : call.stdin;
    const seen = (stream: Stream | undefined): void => {
      if (stream !== undefined) out = { origin: worseOrigin(out.origin, stream.origin) };
    };
    for (const [effect, reason] of line.does ?? []) call.report(effect, reason);
    for (const { role, value, name } of words.options)
      if (role !== undefined && value !== undefined) seen(applyRole(call, role, value, name));
    const order = instead.length > 0 && words.has(...instead) ? roles.slice(1) : roles;
    words.operands.forEach((word, index) => {
      seen(applyRole(call, roleAt(order, index, words.operands.length), word, ''));
    });
    const more = line.also?.(call, words);
    if (more !== undefined) return more;
    if (line.prints === 'decoded') return { origin: worseOrigin(out.origin, 'decoded') };
    return { origin: out.origin };
  };
}

function roleAt(order: string, index: number, count: number): Role {
  const split = order.indexOf('>');
  if (split >= 0) return (index === count - 1 && count > 1 ? order[split + 1] : order[0]) as Role;
  return (order[Math.min(index, order.length - 1)] ?? '-') as Role;
}

/** Lines of a family that share everything: `names` is a list of program names. */
export function all(names: string, make: Program): readonly (readonly [string, Program])[] {
  return names
    .split(/\s+/)
    .filter((name) => name !== '')
    .map((name) => [name, make] as const);
}
