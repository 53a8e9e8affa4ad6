import { FOREIGN, HOLE, isUnknown, SOME, type Text } from '../text.ts';
import type { Builtin } from './builtin.ts';
import { judgeVariable } from './environment.ts';
import { held } from './parameters.ts';
import { withEntry, without } from './state.ts';
import { LOCAL, NOTHING, type Stream } from './stream.ts';

export const flags = (args: readonly Text[]): string =>
  args
    .filter((arg) => /^[-+][A-Za-z]/.test(arg))
    .map((arg) => arg.slice(1))
    .join('');

export const operands = (args: readonly Text[]): readonly Text[] => {
  const end = args.indexOf('--');
  return end < 0
    ? args.filter((arg) => !/^[-+]./.test(arg))
    : [...args.slice(0, end).filter((arg) => !/^[-+]./.test(arg)), ...args.slice(end + 1)];
};

/** The lines that a `read` may get. */
function lines(stream: Stream): readonly Text[] {
  if (stream.none) return [''];
  if (stream.text !== undefined && !isUnknown(stream.text))
    return stream.text.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1);
  if (stream.paths !== undefined) return [stream.paths];
  return [stream.origin === 'local' ? HOLE : FOREIGN];
}

export const read: Builtin = (call, side) => {
  const names: Text[] = [];
  let array: Text | undefined;
  for (let i = 0; i < call.args.length; i++) {
    const arg = call.args[i] ?? '';
    const match = /^-[ers]*([adinNptu])(.*)$/s.exec(arg);
    if (match !== null) {
      const value = match[2] === '' ? call.args[++i] : match[2];
      if (match[1] === 'a') array = value;
    } else if (!/^-[ers]+$/.test(arg) && arg !== '--') names.push(arg);
  }
  const all = lines(call.stdin);
  const { expander } = side.host;
  for (const name of [...names, ...(array === undefined ? [] : [array])]) call.lurking(name);
  const ifs = held(side.cell.state, 'IFS').values[0] ?? ' \t\n';
  const split = (line: Text): Text[] => {
    const fields: Text[] = [''];
    for (const char of line) {
      if (ifs.includes(char)) fields.push('');
      else fields[fields.length - 1] += char;
    }
    return ifs.trim() === '' ? fields.filter((field) => field !== '') : fields;
  };
  if (array !== undefined && /^\w+$/.test(array)) {
    const elements = all.length === 1 ? split(all[0] ?? '') : [HOLE];
    side.cell.state = { ...side.cell.state, vars: withEntry(side.cell.state.vars, array, { values: [elements[0] ?? ''], elements }) };
    return NOTHING;
  }
  const targets = names.length === 0 ? ['REPLY'] : names;
  targets.forEach((name, index) => {
    if (!/^\w+$/.test(name)) return;
    const values = all.map((line) => {
      if (targets.length === 1) return names.length === 0 ? line : trim(line, ifs);
      const fields = split(line);
      return index === targets.length - 1 ? fields.slice(index).join(' ') : (fields[index] ?? '');
    });
    expander.set(name, values.length > 16 ? [HOLE] : [...new Set(values)], side.cell);
  });
  return NOTHING;
};

const trim = (line: Text, ifs: string): Text => (ifs.includes(' ') ? line.trim() : line);

export const mapfile: Builtin = (call, side) => {
  const name = operands(call.args.filter((arg) => arg !== '-t'))[0] ?? 'MAPFILE';
  call.lurking(name);
  const callback = call.args.indexOf('-C');
  if (callback >= 0) call.runsText(call.args[callback + 1] ?? HOLE, 'mapfile calls a command for each line');
  if (!/^\w+$/.test(name)) return NOTHING;
  const elements = lines(call.stdin);
  side.cell.state = { ...side.cell.state, vars: withEntry(side.cell.state.vars, name, { values: [elements[0] ?? ''], elements }) };
  return NOTHING;
};

const PRINTS_VARIABLES = 'prints all variables, secrets among them';

export const declare: Builtin = (call, side) => {
  const options = flags(call.args);
  const words = operands(call.args);
  if (words.length === 0) {
    if (call.name === 'local') return NOTHING;
    if (!options.includes('f') && !options.includes('F')) call.report('credential_access', PRINTS_VARIABLES);
    return LOCAL;
  }
  for (const word of words) {
    const match = /^([A-Za-z_]\w*)(\+?)=(.*)$/s.exec(word);
    if (match === null) {
      call.lurking(word);
      if (isUnknown(word)) call.report('unknown', `${call.name} sets a variable that cannot be known from the text`);
      else if (call.name === 'local' && /^\w+$/.test(word)) side.host.expander.set(word, [''], side.cell);
      continue;
    }
    const [, name = '', , value = ''] = match;
    if (!side.declared) side.host.expander.set(name, [value], side.cell);
    if (options.includes('n')) {
      side.cell.state = { ...side.cell.state, vars: withEntry(side.cell.state.vars, name, { values: [value], ref: value }) };
    } else if (options.includes('i')) call.lurking(value);
    if (options.includes('A')) {
      side.cell.state = { ...side.cell.state, vars: withEntry(side.cell.state.vars, name, { values: [HOLE], elements: [HOLE] }) };
    }
    const subject = { ...side.subject, index: undefined };
    for (const one of held(side.cell.state, name).values) judgeVariable(side.host, subject, side.scene, side.cell.state, name, one);
  }
  return NOTHING;
};

export const unset: Builtin = (call, side) => {
  for (const word of operands(call.args)) {
    call.lurking(word);
    const { state } = side.cell;
    side.cell.state = {
      ...state,
      vars: without(state.vars, word),
      functions: call.args.includes('-v') ? state.functions : without(state.functions, word),
    };
  }
  return NOTHING;
};

export const set: Builtin = (call, side) => {
  if (call.args.length === 0) {
    call.report('credential_access', PRINTS_VARIABLES);
    return LOCAL;
  }
  const dashes = call.args.indexOf('--');
  const first = call.args.findIndex((arg, index) => !/^[-+]/.test(arg) && !/^[-+]o$/.test(call.args[index - 1] ?? ''));
  if (dashes >= 0) side.cell.state = { ...side.cell.state, args: call.args.slice(dashes + 1) };
  else if (first >= 0) side.cell.state = { ...side.cell.state, args: call.args.slice(first) };
  return NOTHING;
};

export const shift: Builtin = (call, side) => {
  const count = Number(call.args[0] ?? '1');
  const { args } = side.cell.state;
  side.cell.state = { ...side.cell.state, args: args === undefined || !Number.isInteger(count) ? undefined : args.slice(count) };
  return NOTHING;
};

export const letExpression: Builtin = (call, side) => {
  for (const arg of call.args) {
    call.lurking(arg);
    const match = /^([A-Za-z_]\w*)\s*([-+*/%]?=|\+\+|--)/.exec(arg);
    if (match?.[1] !== undefined) side.host.expander.set(match[1], [SOME], side.cell);
  }
  return NOTHING;
};

export const getopts: Builtin = (call, side) => {
  const name = call.args[1];
  if (name !== undefined) {
    call.lurking(name);
    if (/^\w+$/.test(name)) side.host.expander.set(name, [SOME], side.cell);
    side.host.expander.set('OPTARG', [HOLE], side.cell);
  }
  return NOTHING;
};
