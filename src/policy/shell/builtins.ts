import type { Call } from '../programs/program.ts';
import type { Subject } from '../session.ts';
import { FOREIGN, HOLE, isForeign, isUnknown, SOME, type Text } from '../text.ts';
import { judgeVariable } from './environment.ts';
import { both, type Flow, type Scene } from './flow.ts';
import { held } from './parameters.ts';
import type { Cell, Interpreter } from './parts.ts';
import { type State, withEntry, without } from './state.ts';
import { LOCAL, NOTHING, type Stream } from './stream.ts';

/** What a builtin sees besides its words: it changes the shell itself. */
export interface ShellSide {
  readonly host: Interpreter;
  readonly cell: Cell;
  readonly scene: Scene;
  readonly subject: Subject;
  /** Assignments among the words were carried out while expanding. */
  readonly declared: boolean;
  /** For builtins whose success and failure leave different states. */
  finish(flow: Flow): void;
}

export type Builtin = (call: Call, side: ShellSide) => Stream | undefined;

const quiet: Builtin = () => NOTHING;
const ends: Builtin = (_call, side) => {
  side.finish({ ok: undefined, fail: undefined, out: NOTHING });
  return NOTHING;
};

const flags = (args: readonly Text[]): string =>
  args
    .filter((arg) => /^[-+][A-Za-z]/.test(arg))
    .map((arg) => arg.slice(1))
    .join('');
const operands = (args: readonly Text[]): readonly Text[] => {
  const end = args.indexOf('--');
  return end < 0
    ? args.filter((arg) => !/^[-+]./.test(arg))
    : [...args.slice(0, end).filter((arg) => !/^[-+]./.test(arg)), ...args.slice(end + 1)];
};

/** One folder for each that the shell may be in now. */
function folders(word: Text, side: ShellSide): readonly Text[] {
  if (isUnknown(word)) return [HOLE];
  const { cell } = side;
  const search = held(cell.state, 'CDPATH');
  if (!search.inherited && !word.startsWith('/') && !word.startsWith('.')) return [HOLE];
  const found = cell.state.cwd.map((base) => {
    const path = word.startsWith('/') ? word : `${base}/${word}`;
    if (isUnknown(path)) return HOLE;
    const parts: Text[] = [];
    for (const part of path.split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return `/${parts.join('/')}`;
  });
  return [...new Set(found)];
}

function moveTo(cwd: readonly Text[], word: Text, side: ShellSide): void {
  const before = side.cell.state;
  const moved: State = { ...before, cwd, oldcwd: before.cwd };
  const sure = side.host.paths.exists(word, before.cwd);
  side.finish({ ok: moved, fail: sure ? undefined : before, out: NOTHING });
}

const cd: Builtin = (call, side) => {
  const word = operands(call.args.filter((arg) => !/^-[LPe@]+$/.test(arg)))[0] ?? (call.args.includes('-') ? '-' : undefined);
  const { state } = side.cell;
  if (word === '-' || call.args.includes('-')) {
    side.finish({ ok: { ...state, cwd: state.oldcwd, oldcwd: state.cwd }, fail: state, out: NOTHING });
    return NOTHING;
  }
  const target = word ?? held(state, 'HOME').values[0] ?? HOLE;
  moveTo(folders(target, side), target, side);
  return NOTHING;
};

const pushd: Builtin = (call, side) => {
  const word = operands(call.args)[0];
  const { state } = side.cell;
  const top = state.stack[0];
  const next = word === undefined || /^\+\d/.test(word) ? (top ?? [HOLE]) : folders(word, side);
  side.finish({
    ok: {
      ...state,
      cwd: next,
      oldcwd: state.cwd,
      stack: [state.cwd, ...(word === undefined ? state.stack.slice(1) : state.stack)].slice(0, 32),
    },
    fail: state,
    out: LOCAL,
  });
  return LOCAL;
};

const popd: Builtin = (_call, side) => {
  const { state } = side.cell;
  const [top, ...rest] = state.stack;
  side.finish({ ok: { ...state, cwd: top ?? [HOLE], oldcwd: state.cwd, stack: rest }, fail: state, out: LOCAL });
  return LOCAL;
};

const printed = (text: Text): Stream => ({ origin: isForeign(text) ? 'network' : 'local', text });

const echo: Builtin = (call) => {
  let args = call.args;
  let newline = true;
  let escapes = false;
  while (/^-[neE]+$/.test(args[0] ?? '')) {
    if (args[0]?.includes('n')) newline = false;
    if (args[0]?.includes('e')) escapes = true;
    args = args.slice(1);
  }
  const text = args.join(' ');
  return printed((escapes ? decodeEscapes(text) : text) + (newline ? '\n' : ''));
};

const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '\\': '\\',
  a: '\x07',
  b: '\b',
  e: '\x1b',
  f: '\f',
  v: '\v',
};
const decodeEscapes = (text: Text): Text =>
  text.replace(/\\(?:x([0-9A-Fa-f]{1,2})|0?([0-7]{1,3})|u([0-9A-Fa-f]{1,4})|(.))/gs, (whole, hex, octal, unicode, char) => {
    if (hex !== undefined) return String.fromCharCode(Number.parseInt(hex, 16));
    if (octal !== undefined) return String.fromCharCode(Number.parseInt(octal, 8) & 255);
    if (unicode !== undefined) return String.fromCharCode(Number.parseInt(unicode, 16));
    return ESCAPES[char] ?? whole;
  });

const printf: Builtin = (call, side) => {
  let args = call.args;
  let variable: Text | undefined;
  if (args[0]?.startsWith('-v')) {
    variable = args[0].length > 2 ? args[0].slice(2) : args[1];
    args = args.slice(args[0].length > 2 ? 1 : 2);
  }
  if (args[0] === '--') args = args.slice(1);
  const text = formatted(args[0] ?? '', args.slice(1));
  if (variable === undefined) return printed(text);
  call.lurking(variable);
  if (/^\w+$/.test(variable)) side.host.expander.set(variable, [text], side.cell);
  return NOTHING;
};

/** `%s`, `%b`, `%q` and `%d` of known words; anything fancier is unknown text. */
function formatted(format: Text, words: readonly Text[]): Text {
  if (/%[^sbqd%]/.test(format)) return words.some(isForeign) ? FOREIGN : HOLE;
  const decoded = decodeEscapes(format);
  const slots = decoded.match(/%[sbqd]/g)?.length ?? 0;
  const rounds = slots === 0 ? 1 : Math.max(1, Math.ceil(words.length / slots));
  let index = 0;
  let text = '';
  for (let round = 0; round < rounds; round++) {
    text += decoded.replace(/%([sbqd%])/g, (_whole, kind: string) => {
      if (kind === '%') return '%';
      const word = words[index++] ?? '';
      return kind === 'b' ? decodeEscapes(word) : word;
    });
  }
  return text;
}

/** The lines that a `read` may get. */
function lines(stream: Stream): readonly Text[] {
  if (stream.none) return [''];
  if (stream.text !== undefined && !isUnknown(stream.text))
    return stream.text.split('\n').filter((line, index, all) => line !== '' || index < all.length - 1);
  if (stream.paths !== undefined) return [stream.paths];
  return [stream.origin === 'local' ? HOLE : FOREIGN];
}

const read: Builtin = (call, side) => {
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

const mapfile: Builtin = (call, side) => {
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

const declare: Builtin = (call, side) => {
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

const unset: Builtin = (call, side) => {
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

const set: Builtin = (call, side) => {
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

const shift: Builtin = (call, side) => {
  const count = Number(call.args[0] ?? '1');
  const { args } = side.cell.state;
  side.cell.state = { ...side.cell.state, args: args === undefined || !Number.isInteger(count) ? undefined : args.slice(count) };
  return NOTHING;
};

const evaluate: Builtin = (call, side) => {
  const text = call.args.filter((arg, index) => !(index === 0 && arg === '--')).join(' ');
  if (text !== '') side.finish(side.host.text(sourceOf(text), side.cell.state, side.subject.span, side.scene));
  return NOTHING;
};

const sourceOf = (text: Text): Text =>
  text.replace(/[\uFDD3-\uFDD7]/g, (mark) => ({ '\uFDD4': '*', '\uFDD5': '?', '\uFDD6': '[', '\uFDD7': ']' })[mark] ?? HOLE);

const source: Builtin = (call, side) => {
  const path = call.args[0] === '--' ? call.args[1] : call.args[0];
  if (path === undefined) return NOTHING;
  if (path === '/dev/stdin' || path === '-') {
    call.runsStream(call.stdin, 'runs its input in this shell');
    if (call.stdin.text !== undefined)
      side.finish(side.host.text(sourceOf(call.stdin.text), side.cell.state, side.subject.span, side.scene));
    return LOCAL;
  }
  const stream =
    side.host.processes.get(path) ??
    side.host.paths
      .key(path, side.cell.state.cwd)
      .map((key) => side.cell.state.files.get(key))
      .find((one) => one !== undefined);
  if (stream !== undefined) {
    call.runsStream(stream, 'runs a file in this shell');
    if (stream.text !== undefined) side.finish(side.host.text(sourceOf(stream.text), side.cell.state, side.subject.span, side.scene));
    return LOCAL;
  }
  // A hidden start-up file is simply not there inside; a secret one is another matter.
  for (const { effect, reason, ...more } of side.host.paths.read(path, side.cell.state.cwd)) {
    if (effect !== 'safe') call.report(effect, reason, more);
  }
  call.report('code_execution', 'runs a file in this shell');
  return LOCAL;
};

const exec: Builtin = (call, side) => {
  let at = 0;
  while (at < call.args.length && /^-[cla]/.test(call.args[at] ?? ''))
    at += call.args[at] === '-a' || /^-[cl]+a$/.test(call.args[at] ?? '') ? 2 : 1;
  if (call.args[at] === '--') at++;
  if (at >= call.args.length) return NOTHING;
  const out = call.inner(at);
  side.finish(both(side.cell.state, out));
  return out;
};

/** `command` and `builtin`: what follows is no function and no alias. */
const command: Builtin = (call, side) => {
  let at = 0;
  while (/^-[pvV]+$/.test(call.args[at] ?? '')) {
    if (/[vV]/.test(call.args[at] ?? '')) return LOCAL;
    at++;
  }
  if (call.args[at] === '--') at++;
  if (at >= call.args.length) return NOTHING;
  const outer = side.subject.index === undefined ? undefined : { command: side.subject.index, at: at + 1 };
  side.finish(side.host.dispatch.run(call.args.slice(at), side.cell.state, side.subject.span, side.scene, { outer, plain: true }));
  return NOTHING;
};

const trap: Builtin = (call, side) => {
  const args = call.args[0] === '--' ? call.args.slice(1) : call.args;
  const handler = args[0];
  if (handler === undefined || /^-[lpP]/.test(handler) || handler === '-' || handler === '' || args.length < 2) return LOCAL;
  side.host.text(sourceOf(handler), side.cell.state, side.subject.span, { ...side.scene, stdin: LOCAL });
  return NOTHING;
};

const alias: Builtin = (call, side) => {
  for (const arg of call.args) {
    const equals = arg.indexOf('=');
    if (equals <= 0) continue;
    const name = arg.slice(0, equals);
    const text = arg.slice(equals + 1);
    side.cell.state = { ...side.cell.state, aliases: withEntry(side.cell.state.aliases, name, text) };
    side.host.dispatch.shellText(
      text,
      side.cell.state,
      side.subject,
      { ...side.scene, calls: [...side.scene.calls, { of: `alias ${name}`, forks: side.scene.forks, state: side.cell.state }] },
      { lenient: true },
    );
  }
  return LOCAL;
};

const test: Builtin = (call) => {
  call.args.forEach((arg, index) => {
    if (
      call.args[index - 1] === '-v' ||
      /^-(eq|ne|lt|le|gt|ge)$/.test(call.args[index - 1] ?? '') ||
      /^-(eq|ne|lt|le|gt|ge)$/.test(call.args[index + 1] ?? '')
    )
      call.lurking(arg);
  });
  return NOTHING;
};

const letExpression: Builtin = (call, side) => {
  for (const arg of call.args) {
    call.lurking(arg);
    const match = /^([A-Za-z_]\w*)\s*([-+*/%]?=|\+\+|--)/.exec(arg);
    if (match?.[1] !== undefined) side.host.expander.set(match[1], [SOME], side.cell);
  }
  return NOTHING;
};

const enable: Builtin = (call) => {
  if (flags(call.args).includes('f')) call.report('system_write', 'loads a shared object into the shell');
  return LOCAL;
};

const hash: Builtin = (call) => {
  if (flags(call.args).includes('p')) call.report('system_write', 'changes which program a name stands for');
  return LOCAL;
};

const complete: Builtin = (call) => {
  call.args.forEach((arg, index) => {
    if (/^-[CF]$/.test(call.args[index - 1] ?? '')) call.runsText(arg, 'names a command for completion');
    else call.lurking(arg);
  });
  return LOCAL;
};

const bind: Builtin = (call) => {
  call.args.forEach((arg, index) => {
    if (call.args[index - 1] === '-x') call.runsText(arg.slice(arg.indexOf(':') + 1), 'binds a key to a command');
    if (call.args[index - 1] === '-f') call.read(arg);
  });
  return LOCAL;
};

const history: Builtin = (call) => {
  if (/[anrw]/.test(flags(call.args))) call.report('credential_access', 'reads or writes the shell history');
  return LOCAL;
};

const kill: Builtin = (call) => {
  const targets = call.args.filter(
    (arg, index) =>
      !(
        arg === '-l' ||
        arg === '-L' ||
        arg === '--' ||
        (/^-[A-Z0-9]/.test(arg) && index === 0) ||
        arg === '-s' ||
        arg === '-n' ||
        call.args[index - 1] === '-s' ||
        call.args[index - 1] === '-n'
      ),
  );
  if (call.args.includes('-l') || call.args.includes('-L')) return LOCAL;
  for (const target of targets) {
    // Jobs of this shell (`%1`, `$!`) are its own; a number names any process of the person.
    if (target.startsWith('%') || target === SOME || target === '0' || target === HOLE) {
      if (target === HOLE) call.report('unknown', 'signals a process that cannot be known from the text');
      continue;
    }
    call.report('system_write', 'signals a process by its number', {
      opens: { type: 'uncontained', why: 'the process lives outside the run' },
    });
  }
  return LOCAL;
};

const getopts: Builtin = (call, side) => {
  const name = call.args[1];
  if (name !== undefined) {
    call.lurking(name);
    if (/^\w+$/.test(name)) side.host.expander.set(name, [SOME], side.cell);
    side.host.expander.set('OPTARG', [HOLE], side.cell);
  }
  return NOTHING;
};

export const BUILTINS: ReadonlyMap<string, Builtin> = new Map<string, Builtin>([
  ['cd', cd],
  ['pushd', pushd],
  ['popd', popd],
  ['pwd', (_call, side) => ({ origin: 'local', text: `${side.cell.state.cwd.length === 1 ? side.cell.state.cwd[0] : HOLE}\n` })],
  ['echo', echo],
  ['printf', printf],
  ['read', read],
  ['mapfile', mapfile],
  ['readarray', mapfile],
  ...['export', 'declare', 'typeset', 'local', 'readonly'].map((name) => [name, declare] as const),
  ['unset', unset],
  ['set', set],
  ['shift', shift],
  ['eval', evaluate],
  ['source', source],
  ['.', source],
  ['exec', exec],
  ['command', command],
  ['builtin', command],
  ['trap', trap],
  ['alias', alias],
  ['test', test],
  ['[', test],
  ['let', letExpression],
  ['enable', enable],
  ['hash', hash],
  ['complete', complete],
  ['compgen', complete],
  ['bind', bind],
  ['history', history],
  ['fc', history],
  ['kill', kill],
  ['getopts', getopts],
  ...['exit', 'return', 'logout'].map((name) => [name, ends] as const),
  [':', quiet],
  [
    'true',
    (_call, side) => {
      side.finish({ ok: side.cell.state, fail: undefined, out: NOTHING });
      return NOTHING;
    },
  ],
  [
    'false',
    (_call, side) => {
      side.finish({ ok: undefined, fail: side.cell.state, out: NOTHING });
      return NOTHING;
    },
  ],
  ...['break', 'continue', 'wait', 'fg', 'bg', 'disown', 'suspend', 'unalias', 'compopt'].map((name) => [name, quiet] as const),
  ...['jobs', 'type', 'times', 'ulimit', 'umask', 'dirs', 'caller', 'help', 'shopt'].map((name) => [name, () => LOCAL] as const),
]);
