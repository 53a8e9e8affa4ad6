import { BUDGET, NotUnderstood } from '../budget.ts';
import { networkOf } from '../hosts.ts';
import { SYSTEM_BINARIES } from '../paths/tables.ts';
import { PROGRAMS } from '../programs/index.ts';
import { launched } from '../programs/launched.ts';
import type { Call } from '../programs/program.ts';
import type { Span, Subject } from '../session.ts';
import { asSource, HOLE, isForeign, isKnown, isUnknown, type Text } from '../text.ts';
import type { AssessContext } from '../types.ts';
import { BUILTINS } from './builtins.ts';
import { judgeVariable } from './environment.ts';
import { after, both, type Flow, type Scene } from './flow.ts';
import type { Cell, Dispatch, Interpreter, RunOptions } from './parts.ts';

import { quoteWord } from './quote.ts';
import { type ShellFunction, type State, sameState, withEntry } from './state.ts';
import { eitherStream, LOCAL, NOTHING, type Stream } from './stream.ts';

const ODD_NAME = /[^\x20-\x7E]/;
/** Where programs lie under the names that they were installed by: of a virtual environment, a project's packages, a home. */
const INSTALLED = /(^|\/)\.?bin$/;
/** The scripts of a project that stand for its build tool. */
const STANDS_FOR_TOOL = /^(gradlew|mvnw)$/;
const SELF_DESCRIBING = new Set(['--version', '--help', '-V']);

export function createDispatch(host: Interpreter): Dispatch {
  const found = new Map<string, string | undefined>();
  const which = (name: string): string | undefined => {
    if (!found.has(name)) found.set(name, host.context.facts.which(name));
    return found.get(name);
  };

  function run(argv: readonly Text[], state: State, span: Span, scene: Scene, options: RunOptions): Flow {
    host.meter.step();
    const name = argv[0] ?? '';
    const subject = host.session.command(argv, span, options.outer);
    if (name === '') return both(state);
    if (!isKnown(name)) {
      if (isForeign(name)) host.report(subject, scene, 'blocked', 'runs text from the network or a decoder as a command');
      else host.report(subject, scene, 'unknown', 'the program cannot be known from the text');
      return both(state);
    }
    if (ODD_NAME.test(name)) {
      host.report(subject, scene, 'unknown', 'the name of the program holds unusual characters');
      return both(state);
    }
    if (!options.plain) {
      const fn = state.functions.get(name);
      if (fn !== undefined) return callFunction(fn, argv.slice(1), state, subject, scene);
      const alias = state.aliases.get(name);
      if (alias !== undefined && !scene.calls.some((call) => call.of === `alias ${name}`)) {
        const words = argv.slice(1).map(quoteWord).join(' ');
        return host.text(`${asSource(alias)} ${words}`, state, span, entered(scene, `alias ${name}`, state));
      }
    }
    const builtin = BUILTINS.get(name);
    if (builtin !== undefined) {
      const cell: Cell = { state, frame: { source: '', span } };
      let flow: Flow | undefined;
      const out = builtin(call(name, argv, cell, subject, scene), {
        host,
        cell,
        scene,
        subject,
        declared: options.declared ?? false,
        finish: (result) => {
          flow = result;
        },
      });
      return flow ?? both(cell.state, out ?? LOCAL);
    }
    return external(name, argv, state, subject, scene);
  }

  function external(name: string, argv: readonly Text[], state: State, subject: Subject, scene: Scene): Flow {
    const slash = name.lastIndexOf('/');
    const folder = slash < 0 ? undefined : name.slice(0, slash);
    const base = slash < 0 ? name : name.slice(slash + 1);
    const cell: Cell = { state, frame: { source: '', span: subject.span } };
    const its = call(base, argv, cell, subject, scene);
    if (folder !== undefined && !SYSTEM_BINARIES.has(folder)) {
      runsProgram(its, name);
      // A copy of Writ has the powers of Writ, wherever it lies; `.venv/bin/pip` needs what pip needs, and without a question it would never get it.
      const installed = base === 'writ' || INSTALLED.test(folder) || STANDS_FOR_TOOL.test(base) ? PROGRAMS.get(base) : undefined;
      const asked = installed !== undefined && !(argv.length === 2 && SELF_DESCRIBING.has(argv[1] ?? ''));
      const out = asked ? installed(its) : undefined;
      const through: Stream = { origin: its.stdin.origin };
      return both(cell.state, out === undefined ? through : eitherStream(out, through));
    }
    const resolved = folder === undefined ? which(base) : undefined;
    if (resolved !== undefined && host.paths.program(resolved, state.cwd) === 'project') {
      host.report(subject, scene, 'code_execution', 'the name stands for a program inside the workspace');
    }
    const program = PROGRAMS.get(base);
    if (program === undefined) {
      host.report(subject, scene, 'unknown', 'nothing is known about this program');
      launched(its);
      return both(cell.state, { origin: its.stdin.origin });
    }
    if (argv.length === 2 && SELF_DESCRIBING.has(argv[1] ?? '')) return both(cell.state);
    const out = program(its) ?? { origin: its.stdin.origin };
    return both(cell.state, out);
  }

  /** What this command wrote there itself is looked at: by the first line it is a shell script or something else. */
  function runsProgram(its: Call, path: Text): void {
    const stream = its.runsFile(path, 'runs a program file');
    const text = stream?.origin === 'local' ? stream.text : undefined;
    if (text === undefined) return;
    const interpreter = /^#!\s*(?:\S*\/env\s+(?:-S\s+)?)?(\S+)/.exec(text)?.[1]?.split('/').at(-1) ?? 'sh';
    const program = PROGRAMS.get(interpreter);
    if (program === undefined) its.report('unknown', 'nothing is known about the interpreter of the file');
    else program({ ...its, name: interpreter, argv: [interpreter], args: [], stdin: stream ?? LOCAL });
  }

  const entered = (scene: Scene, of: Scene['calls'][number]['of'], state: State): Scene => ({
    ...scene,
    calls: [...scene.calls, { of, forks: scene.forks, state }],
  });

  function callFunction(fn: ShellFunction, args: readonly Text[], outside: State, subject: Subject, scene: Scene): Flow {
    host.called(fn.body);
    const state: State = { ...outside, args };
    // By its body and not by its name: a function that gives itself another body and calls itself does something else then.
    const earlier = scene.calls.filter((one) => one.of === fn.body);
    if (earlier.some((one) => scene.forks > one.forks)) {
      host.report(subject, scene, 'blocked', 'calls itself in the background or in a pipe without end (a fork bomb)');
      return both(outside);
    }
    if (earlier.some((one) => sameState(one.state, state))) return both(outside);
    // Deeper ones would never be looked at, and each may be another function.
    if (scene.calls.length > BUDGET.nesting) throw new NotUnderstood('functions call each other too deeply to judge');
    if (earlier.length >= 4) {
      host.report(subject, scene, 'unknown', 'calls itself too often to be followed');
      return both(outside);
    }
    const flow = host.walker.compound(fn.body, state, fn.frame, entered(scene, fn.body, state));
    const restore = (end: State | undefined): State | undefined => (end === undefined ? undefined : { ...end, args: outside.args });
    // `return` ends the function, not the script.
    const end = after(flow, state);
    return { ok: restore(flow.ok ?? end), fail: restore(flow.fail ?? end), out: flow.out };
  }

  function shellText(
    text: Text,
    state: State,
    subject: Subject,
    scene: Scene,
    options: { readonly lenient: boolean; readonly args?: readonly Text[]; readonly zero?: Text | undefined },
  ): Stream {
    if (scene.nesting > BUDGET.nesting) throw new NotUnderstood('commands are nested too deeply to judge');
    try {
      const vars = options.zero === undefined ? state.vars : withEntry(state.vars, '0', { values: [options.zero] });
      const inside: State = { ...state, vars, args: options.args ?? [] };
      return host.text(asSource(text), inside, subject.span, { ...scene, forks: scene.forks }).out;
    } catch (thrown) {
      if (!(options.lenient && thrown instanceof NotUnderstood && thrown.at !== undefined)) throw thrown;
      host.report(subject, scene, 'unknown', 'hands text to a shell that is no valid command');
      return LOCAL;
    }
  }

  /** What a table may do with one call. */
  function call(name: string, argv: readonly Text[], cell: Cell, subject: Subject, scene: Scene): Call {
    const report: Call['report'] = (effect, reason, more) => host.report(subject, scene, effect, reason, more);
    const known = (path: Text): Stream | undefined => {
      const process = host.processes.get(path);
      if (process !== undefined) return process;
      const fd = /^\/dev\/fd\/(\d+)$/.exec(path);
      if (path === '/dev/stdin' || fd?.[1] === '0') return scene.stdin;
      if (fd !== null) return cell.state.fds.get(Number(fd[1]));
      return host.paths.key(path, cell.state.cwd).reduce<Stream | undefined>((one, key) => {
        const stream = cell.state.files.get(key);
        return stream === undefined ? one : one === undefined ? stream : eitherStream(one, stream);
      }, undefined);
    };
    const runsText: Call['runsText'] = (text, what) => {
      if (isForeign(text)) report('blocked', `${what}: text from the network or a decoder`);
      else report(isUnknown(text) ? 'unknown' : 'code_execution', what);
      shellText(text, cell.state, subject, scene, { lenient: true });
    };
    const runsStream: Call['runsStream'] = (stream, what) => {
      if (stream.origin !== 'local') report('blocked', `${what}: text from ${stream.origin === 'network' ? 'the network' : 'a decoder'}`);
      else report('code_execution', what);
    };
    const own = (path: string): readonly string[] => {
      const absolute = `${host.context.home}/${path}`;
      return [...new Set([absolute, host.context.facts.realpath(absolute) ?? absolute])];
    };
    return {
      name,
      argv,
      args: argv.slice(1),
      stdin: scene.stdin,
      cwd: cell.state.cwd,
      report,
      read: (path) => {
        const stream = known(path);
        if (stream === undefined || !host.processes.has(path)) {
          for (const { effect, reason, ...more } of host.paths.read(path, cell.state.cwd)) report(effect, reason, more);
        }
        return stream;
      },
      lists: (path) => {
        const own = host.paths.program(path, cell.state.cwd) === 'project';
        for (const { effect, reason, ...more } of host.paths.read(path, cell.state.cwd)) {
          if (!(own && effect === 'credential_access')) report(effect, reason, more);
        }
      },
      write: (path, content) => {
        for (const { effect, reason, ...more } of host.paths.write(path, cell.state.cwd)) report(effect, reason, more);
        for (const key of host.paths.key(path, cell.state.cwd))
          cell.state = { ...cell.state, files: withEntry(cell.state.files, key, content ?? cell.state.files.get(key) ?? LOCAL) };
      },
      remove: (path, recursive) => {
        for (const { effect, reason, ...more } of host.paths.remove(path, cell.state.cwd, recursive)) report(effect, reason, more);
      },
      loses: (reason) => {
        const confined = host.paths.program('.', cell.state.cwd) === 'project';
        report('destructive', confined ? reason : `${reason}, outside the workspace`, confined ? { verdict: 'prompt' } : {});
      },
      upsets: (path) => {
        const wiped = host.paths.remove(path, cell.state.cwd, true).some(({ effect }) => effect === 'blocked');
        if (wiped) report('destructive', 'changes all of a home or of the system');
      },
      at: (cwd) => {
        const there: Cell = {
          frame: cell.frame,
          get state() {
            return { ...cell.state, cwd };
          },
          set state(next) {
            cell.state = { ...next, cwd: cell.state.cwd };
          },
        };
        return call(name, argv, there, subject, scene);
      },
      network: (reason, words, presets = []) => {
        const { hosts, local } = networkOf(words);
        if (local && presets.length === 0) return;
        report('network_egress', reason, { opens: { type: 'hosts', hosts, presets } });
      },
      shell: (text, options = {}) => {
        const inside: Scene = { ...scene, stdin: options.stdin ?? scene.stdin, remote: scene.remote || (options.remote ?? false) };
        const state = options.remote ? { ...cell.state, cwd: [HOLE], functions: new Map(), files: new Map() } : cell.state;
        return shellText(text, state, subject, inside, { lenient: options.lenient ?? false, args: options.args ?? [], zero: options.zero });
      },
      inner: (at, options = {}) => {
        const words = [...argv.slice(at + 1), ...(options.words ?? [])];
        if (words.length === 0) return NOTHING;
        const stage: Scene = { ...scene, stdin: options.stdin ?? scene.stdin };
        if (stage.nesting > BUDGET.nesting * 2) throw new NotUnderstood('commands are nested too deeply to judge');
        const outer = subject.index === undefined ? undefined : { command: subject.index, at: at + 1 };
        const flow = run(words, cell.state, subject.span, { ...stage, nesting: stage.nesting + 1 }, { outer, plain: true });
        cell.state = { ...cell.state, files: after(flow, cell.state).files };
        return flow.out;
      },
      runsFile: (path, what) => {
        const stream = known(path);
        if (stream !== undefined && stream.origin !== 'local') {
          report('blocked', `${what} that came from ${stream.origin === 'network' ? 'the network' : 'a decoder'}`);
          return stream;
        }
        const where = host.paths.program(path, cell.state.cwd);
        if (where === 'unknown') report('unknown', `${what} that cannot be known from the text`);
        report('code_execution', what);
        if (where === 'elsewhere') {
          for (const { effect, reason, ...more } of host.paths.read(path, cell.state.cwd)) report(effect, reason, more);
        }
        return stream;
      },
      needs: (...paths) => {
        for (const path of paths.flatMap(own)) {
          report('safe', 'reads its configuration, which containment hides', {
            verdict: 'prompt',
            opens: { type: 'path', path, access: 'read' },
          });
        }
      },
      own,
      installed: (program) => cell.state.cwd.length > 0 && cell.state.cwd.every((folder) => hasInstalled(host.context, folder, program)),
      workspace: () => {
        if (host.paths.program('.', cell.state.cwd) !== 'project') return undefined;
        const [base, ...others] = host.context.workspaces.filter((folder) =>
          cell.state.cwd.every((path) => path === folder || path.startsWith(`${folder}/`)),
        );
        return others.length === 0 ? base : undefined;
      },
      links: (link, target) => host.paths.link(link, target, cell.state.cwd),
      runsStream,
      runsText,
      environment: (variable, value) => judgeVariable(host, { ...subject, index: undefined }, scene, cell.state, variable, value),
      lurking: (text) => host.expander.lurking(text, cell),
    };
  }

  return { run, shellText };
}

/** As npm looks for it: in the `node_modules` of the folder and of each one above it, up to where the agent may write. */
function hasInstalled({ workspaces, facts }: AssessContext, folder: Text, program: string): boolean {
  if (!isKnown(folder) || !/^\w[\w.-]*$/.test(program)) return false;
  const tops = workspaces.filter((top) => folder === top || folder.startsWith(`${top}/`));
  for (let at = folder; tops.some((top) => at === top || at.startsWith(`${top}/`)); at = at.slice(0, at.lastIndexOf('/'))) {
    if (facts.which(`${at}/node_modules/.bin/${program}`) !== undefined) return true;
  }
  return false;
}
