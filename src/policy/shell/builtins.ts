import { HOLE, isUnknown, SOME, type Text } from '../text.ts';
import type { Builtin, ShellSide } from './builtin.ts';
import { echo, printf } from './builtins-print.ts';
import { declare, flags, getopts, letExpression, mapfile, operands, read, set, shift, unset } from './builtins-variables.ts';
import { both } from './flow.ts';
import { held } from './parameters.ts';
import { type State, withEntry } from './state.ts';
import { LOCAL, NOTHING } from './stream.ts';

const quiet: Builtin = () => NOTHING;

const ends: Builtin = (_call, side) => {
  side.finish({ ok: undefined, fail: undefined, out: NOTHING });
  return NOTHING;
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
