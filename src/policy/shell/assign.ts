import type { Word } from 'unbash';
import { CLOSE, HOLE, ONE, OPEN, STAR, type Text } from '../text.ts';
import { held, target } from './parameters.ts';
import type { Arithmetic, Cell, Expander } from './parts.ts';
import { distinct, type Variable, withEntry } from './state.ts';

/** Places of an array that are kept apart. */
const PLACES = 1_024;

export interface AssignHost {
  readonly arithmetic: Arithmetic;
  fields(word: Word, cell: Cell): readonly (readonly Text[])[];
  texts(word: Word, cell: Cell, place?: 'assignment'): readonly Text[];
  lurking(text: Text, cell: Cell): void;
}

function keep(name: string, variable: Variable, cell: Cell): void {
  cell.state = { ...cell.state, vars: withEntry(cell.state.vars, target(cell.state, name), variable) };
}

const array = (elements: readonly Text[]): Variable => ({ values: [elements[0] ?? ''], elements });

/** Whichever of these values. In an array it is the first place that gets it. */
export function setVariable(name: string, values: readonly Text[], cell: Cell): void {
  const before = cell.state.vars.get(target(cell.state, name))?.elements;
  if (before === undefined) keep(name, { values }, cell);
  else keep(name, { values, elements: [values.length === 1 ? (values[0] ?? '') : HOLE, ...before.slice(1)] }, cell);
}

export function createAssign(host: AssignHost): Expander['assign'] {
  return ({ name, value, append, index }, cell) => {
    const before = append ? held(cell.state, name) : undefined;
    if (index !== undefined) for (const text of host.texts(index, cell)) host.lurking(text, cell);
    if (value.type === 'ArrayValue') {
      const added = value.elements.flatMap((element) => {
        const all = host.fields(element, cell);
        return all.length === 1 ? (all[0] ?? []) : [HOLE];
      });
      keep(name, array([...(before?.elements ?? (before && !before.inherited ? before.values : [])), ...added]), cell);
      return;
    }
    const values = host.texts(value, cell, 'assignment').map((text) => text.replace(/[\uFDD4-\uFDD7]/g, unglob));
    if (index !== undefined) {
      const known = held(cell.state, name);
      const at = host.arithmetic.number(host.texts(index, cell)[0] ?? '', cell);
      const elements = [...(known.elements ?? (known.inherited ? [] : known.values))];
      if (at === undefined || at < 0 || at > PLACES || values.length !== 1) {
        keep(name, { values: [HOLE], elements: elements.map(() => HOLE).concat(HOLE) }, cell);
        return;
      }
      while (elements.length <= at) elements.push('');
      elements[at] = values[0] ?? '';
      keep(name, array(elements), cell);
      return;
    }
    if (before === undefined) setVariable(name, values, cell);
    else setVariable(name, distinct(before.values.flatMap((head) => values.map((tail) => head + tail))), cell);
  };
}

/** An assignment doesn't glob: the characters are stored, and become active where the value is used unquoted. */
const unglob = (mark: string): string => ({ [STAR]: '*', [ONE]: '?', [OPEN]: '[', [CLOSE]: ']' })[mark] ?? mark;
