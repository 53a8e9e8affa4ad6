import { isUnknown, type Text } from '../text.ts';

/**
 * How a program reads its words. A table is one string of `name=role`, `name?role` (the value is optional and glued) and bare
 * names (flags that matter). One letter is a short option, more are a long one; long options may be shortened by whoever types them.
 * Roles: `-` data, `l` lists the path, `r` reads it, `w` writes it, `d` removes it, `x` text for a shell, `p` a program, `c` configuration that may
 * name programs, `n` reaches a host, `u` not decidable.
 */
export type Role = '-' | 'l' | 'r' | 'w' | 'd' | 'x' | 'p' | 'c' | 'n' | 'u';

interface Known {
  readonly role: Role | undefined;
  readonly optional: boolean;
}

export interface OptionTable {
  readonly short: ReadonlyMap<string, Known>;
  readonly long: ReadonlyMap<string, Known>;
  /** Long options with one dash (`-name`), as find, java and terraform have them. */
  readonly oneDash: boolean;
}

export interface Given {
  readonly name: string;
  readonly role: Role | undefined;
  readonly value: Text | undefined;
}

export interface Words {
  readonly options: readonly Given[];
  readonly operands: readonly Text[];
  /** Where each operand stands in `args`. */
  readonly at: readonly number[];
  has(...names: readonly string[]): boolean;
  value(...names: readonly string[]): Text | undefined;
}

export function optionTable(text: string, oneDash = false): OptionTable {
  const short = new Map<string, Known>();
  const long = new Map<string, Known>();
  for (const entry of text.split(/\s+/)) {
    const match = /^([^=?\s]+)(?:([=?])(.))?$/.exec(entry);
    if (match === null) continue;
    const name = match[1] ?? '';
    const known: Known = { role: match[3] as Role | undefined, optional: match[2] === '?' };
    (name.length === 1 ? short : long).set(name, known);
  }
  return { short, long, oneDash };
}

/** An exact name, or every long name it may be short for: the strictest meaning is the caller's to find, so all are given. */
function longNames(name: string, table: OptionTable): readonly string[] {
  if (table.long.has(name) || name === '' || (table.oneDash && name.length === 1)) return [name];
  const full = [...table.long.keys()].filter((known) => known.startsWith(name));
  return full.length === 0 ? [name] : full;
}

/** @param stop the first operand ends the options (wrappers: `timeout 5 rm -rf x`). */
export function readWords(args: readonly Text[], table: OptionTable, stop = false): Words {
  const options: Given[] = [];
  const operands: Text[] = [];
  const at: number[] = [];
  let only = false;
  for (let i = 0; i < args.length; i++) {
    const word = args[i] ?? '';
    if (only || word[0] !== '-' || word === '-') {
      operands.push(word);
      at.push(i);
      if (stop) only = true;
      continue;
    }
    if (word === '--') {
      only = true;
      continue;
    }
    if (word[1] === '-' || table.oneDash) {
      const body = word.slice(word[1] === '-' ? 2 : 1);
      const equals = body.indexOf('=');
      const written = equals < 0 ? body : body.slice(0, equals);
      const names = longNames(written, table);
      let glued = equals < 0 ? undefined : body.slice(equals + 1);
      const takes = names.some((name) => {
        const known = table.long.get(name) ?? table.short.get(name);
        return known?.role !== undefined && !known.optional;
      });
      if (glued === undefined && takes) glued = args[++i] ?? '';
      for (const name of names) options.push({ name, role: (table.long.get(name) ?? table.short.get(name))?.role, value: glued });
      continue;
    }
    for (let j = 1; j < word.length; j++) {
      const name = word[j] ?? '';
      const known = table.short.get(name);
      if (known?.role === undefined) {
        options.push({ name, role: isUnknown(name) ? 'u' : undefined, value: undefined });
        continue;
      }
      const rest = word.slice(j + 1);
      const value = rest !== '' ? rest.replace(/^=/, '') : known.optional ? undefined : args[++i];
      options.push({ name, role: known.role, value: value ?? (known.optional ? undefined : '') });
      break;
    }
  }
  return {
    options,
    operands,
    at,
    has: (...names) => options.some((option) => names.includes(option.name)),
    value: (...names) => options.findLast((option) => names.includes(option.name))?.value,
  };
}
