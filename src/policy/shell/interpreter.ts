import type { Assignment, Command, CompoundCommand, CompoundList, ParsedScript, Redirected } from 'unbash';
import { ALTERNATIVES, BUDGET, createMeter, NotUnderstood } from '../budget.ts';
import { createPathPolicy } from '../paths/policy.ts';
import { createSession, type Span, type Subject } from '../session.ts';
import { HOLE, isForeign, type Text } from '../text.ts';
import type { AssessContext, Effect } from '../types.ts';
import { createArithmetic } from './arithmetic.ts';
import { createDispatch } from './dispatch.ts';
import { judgeVariable } from './environment.ts';
import { createExpander } from './expand.ts';
import { after, both, type Flow, joinFlows, type Scene } from './flow.ts';
import type { Cell, Dispatch, Interpreter, Redirector, Walker } from './parts.ts';
import { forEachCommand, readScript } from './read.ts';
import { createRedirector } from './redirect.ts';
import { type Frame, initialState, type State, withEntry, without } from './state.ts';
import { LOCAL, NOTHING, type Stream } from './stream.ts';
import { createWalker } from './walk.ts';

const DECLARES = new Set(['export', 'declare', 'typeset', 'local', 'readonly', 'alias']);
const OUTSIDE = new Set<Effect>(['destructive', 'blocked']);

export function createInterpreter(context: AssessContext): Interpreter & { run(source: string): void } {
  const meter = createMeter();
  const session = createSession();
  const paths = createPathPolicy(context);
  const processes = new Map<Text, Stream>();
  const sinks: ((stream: Stream) => void)[] = [];
  let pipes = 0;
  /** Every simple command of every text that was parsed, and those that were judged. */
  const parsed: Command[] = [];
  const reached = new WeakSet<Command>();
  const bodies = new Map<CompoundCommand | Redirected | CompoundList, { readonly frame: Frame; called: boolean }>();
  /** `[ -n "$TOKEN" ]` asks whether there is one; nothing is shown or passed on. */
  let comparing = false;
  /** The scene substitutions run in: set while a command is being expanded. */
  let scene: Scene = { stdin: NOTHING, nesting: 0, calls: [], forks: 0, remote: false };

  const spanOf = (part: { readonly pos: number; readonly end: number }, frame: Frame): Span =>
    // What has no end ends, for the parser, behind the text.
    frame.span ?? [part.pos, Math.min(part.end, frame.source.length)];
  const surroundings = (part: { readonly pos: number; readonly end: number }, frame: Frame): Subject => ({
    span: spanOf(part, frame),
    argv: [frame.source.slice(part.pos, part.end)],
    index: undefined,
  });
  const inFrame = (script: ParsedScript, part: { readonly pos: number; readonly end: number }, frame: Frame): Frame =>
    script.source === undefined ? frame : { source: script.source, span: spanOf(part, frame) };

  function deeper(from: Scene): Scene {
    if (from.nesting >= BUDGET.nesting * 4) throw new NotUnderstood('commands are nested too deeply to judge');
    return { ...from, nesting: from.nesting + 1 };
  }

  const arithmetic = createArithmetic({
    expander: () => expander,
    substitute: (expression, cell) => {
      if (expression.script !== undefined) substitute(expression.script, cell, expression);
    },
  });

  function substitute(script: ParsedScript | undefined, cell: Cell, part: { readonly pos: number; readonly end: number }): Stream {
    if (script === undefined) return NOTHING;
    const here = scene;
    let flow: Flow | undefined;
    compare(false, () => {
      flow = walker.script(script, cell.state, inFrame(script, part, cell.frame), deeper(here));
    });
    scene = here;
    if (flow === undefined) return LOCAL;
    return readsFile(script, cell, flow.out);
  }

  /** `$(< file)` has no command but gives the file. */
  function readsFile(script: ParsedScript, cell: Cell, out: Stream): Stream {
    const only = script.commands.length === 1 ? script.commands[0]?.command : undefined;
    if (only?.type !== 'Command' || only.name !== undefined || only.redirects.length === 0) return out;
    const read = only.redirects.findLast((redirect) => redirect.type === 'Redirect' && redirect.operator === '<');
    if (read?.type !== 'Redirect' || read.target === undefined) return out;
    const word = expander.texts(read.target, { state: cell.state, frame: cell.frame })[0] ?? HOLE;
    const known = paths
      .key(word, cell.state.cwd)
      .map((key) => cell.state.files.get(key))
      .find((stream) => stream !== undefined);
    return known ?? processes.get(word) ?? LOCAL;
  }

  const expander = createExpander(
    {
      meter,
      arithmetic,
      read: (source) => readScript(source, meter, parsed),
      replaced: (word) => forEachCommand(word, (node) => reached.add(node)),
      substitute,
      processPath: (operator, script, cell, part) => {
        const path = `/dev/fd/p${pipes++}`;
        if (script === undefined) return path;
        const frame = inFrame(script, part, cell.frame);
        const here = scene;
        if (operator === '<') {
          const flow = walker.script(script, cell.state, frame, deeper(here));
          scene = here;
          processes.set(path, flow.out.none ? LOCAL : flow.out);
        } else {
          const { state } = cell;
          const feed = (stream: Stream): void => {
            walker.script(script, state, frame, { ...deeper(here), stdin: stream });
          };
          // It runs whoever writes to it; what is written is known later.
          feed(LOCAL);
          scene = here;
          sinks.push(feed);
        }
        return path;
      },
      inherited: (name, cell, part) => {
        if (!comparing && SECRET_NAME.test(name) && !PUBLIC_NAME.test(name)) {
          host.report(surroundings(part, cell.frame), scene, 'credential_access', `uses the variable ${name}, which looks like a secret`);
        }
      },
    },
    context.home,
  );

  /** Every combination of the fields of several words. */
  function combine(lists: readonly (readonly (readonly Text[])[])[]): readonly (readonly Text[])[] {
    let all: Text[][] = [[]];
    for (const list of lists) {
      const only = list.length === 1 ? list[0] : undefined;
      if (only !== undefined) {
        for (const words of all) for (const word of only) words.push(word);
      } else if (all.length * list.length > ALTERNATIVES) for (const words of all) words.push(HOLE);
      else all = all.flatMap((words) => list.map((more) => [...words, ...more]));
    }
    return all;
  }

  function compare(really: boolean, expand: () => void): void {
    const before = comparing;
    comparing = really;
    expand();
    comparing = before;
  }

  function simple(node: Command, state: State, frame: Frame, outer: Scene): Flow {
    meter.step();
    reached.add(node);
    const before = scene;
    scene = outer;
    const open = sinks.length;
    try {
      return simpleIn(node, state, frame, outer, open);
    } finally {
      sinks.length = open;
      scene = before;
    }
  }

  function simpleIn(node: Command, state: State, frame: Frame, stage: Scene, open: number): Flow {
    const cell: Cell = { state, frame };
    const span = spanOf(node, frame);
    const { name, args } = node;
    const declares = name !== undefined && DECLARES.has(name.value);
    const words = name === undefined ? [] : [expander.fields(name, cell)];
    compare(name?.value === 'test' || name?.value === '[', () => {
      for (const arg of args) {
        if (arg.type === 'Word') words.push(expander.fields(arg, cell));
        else words.push([[assignmentWord(arg, cell, declares)]]);
      }
    });
    const argvs = combine(words);
    const variables = node.prefix.filter((part) => part.type === 'Assignment');
    if (argvs.every((argv) => argv.length === 0)) return assignments(variables, node, cell, stage, open);

    const flows = argvs.map((argv) => {
      const inside: Cell = { state: cell.state, frame };
      const environment = variables.map((assignment) => {
        expander.assign(assignment, inside);
        return { name: assignment.name, values: valuesOf(assignment, inside) };
      });
      const plumbing = redirector.open(node.redirects, inside, stage);
      const subject: Subject = { span, argv, index: undefined };
      for (const { name: variable, values } of environment)
        for (const value of values) judgeVariable(host, subject, plumbing.scene, plumbing.state, variable, value);
      const seen: Scene = plumbing.scene;
      const flow =
        argv.length === 0
          ? both(plumbing.state)
          : dispatch.run(argv, plumbing.state, span, seen, { outer: undefined, declared: declares, kept: cell.state.vars });
      const out = redirector.close(plumbing, flow.out);
      feed(open, seen.stdin, flow.out);
      // A variable set for one command is gone after it.
      const restore = (end: State | undefined): State | undefined => {
        if (end === undefined) return undefined;
        const vars = declares ? end.vars : restored(end.vars, cell.state.vars, variables);
        return { ...end, vars, fds: plumbing.keeps(argv) ? end.fds : cell.state.fds, files: plumbing.wrote(end.files, out) };
      };
      return { ok: restore(flow.ok), fail: restore(flow.fail), out: plumbing.captured ? { origin: 'local' as const, text: '' } : out };
    });
    return flows.reduce(joinFlows);
  }

  const valuesOf = (assignment: Assignment, cell: Cell): readonly Text[] => {
    const variable = cell.state.vars.get(assignment.name);
    return variable?.elements ?? variable?.values ?? [HOLE];
  };

  function assignmentWord(assignment: Assignment, cell: Cell, declares: boolean): Text {
    if (declares) {
      expander.declared(assignment, cell);
      const values = valuesOf(assignment, cell);
      return `${assignment.name}=${values.length === 1 ? (values[0] ?? '') : HOLE}`;
    }
    if (assignment.value.type === 'ArrayValue') return assignment.text;
    const values = expander.texts(assignment.value, cell);
    return `${assignment.name}${assignment.append ? '+' : ''}=${values.length === 1 ? (values[0] ?? '') : HOLE}`;
  }

  /** No command word: the variables stay, redirects happen. */
  function assignments(variables: readonly Assignment[], node: Command, cell: Cell, stage: Scene, open: number): Flow {
    for (const assignment of variables) {
      expander.assign(assignment, cell);
      const subject = surroundings(assignment, cell.frame);
      for (const value of valuesOf(assignment, cell)) judgeVariable(host, subject, stage, cell.state, assignment.name, value);
    }
    const plumbing = redirector.open(node.redirects, cell, stage);
    feed(open, plumbing.scene.stdin, LOCAL);
    return both(
      { ...plumbing.state, fds: cell.state.fds, files: plumbing.wrote(plumbing.state.files, LOCAL) },
      { origin: 'local', text: '' },
    );
  }

  /** What a command reads or prints may go into its `>(...)`. */
  function feed(open: number, stdin: Stream, out: Stream): void {
    for (const sink of sinks.slice(open)) {
      if (!stdin.none) sink(stdin);
      if (!out.none) sink(out);
    }
  }

  function redirected(node: Redirected, state: State, frame: Frame, outer: Scene, run: (state: State, scene: Scene) => Flow): Flow {
    const before = scene;
    scene = outer;
    const open = sinks.length;
    const cell: Cell = { state, frame };
    const plumbing = redirector.open(node.redirects, cell, outer);
    scene = before;
    const flow = run(plumbing.state, plumbing.scene);
    feed(open, plumbing.scene.stdin, flow.out);
    sinks.length = open;
    const out = redirector.close(plumbing, flow.out);
    const restore = (end: State | undefined): State | undefined =>
      end === undefined ? undefined : { ...end, fds: state.fds, files: plumbing.wrote(end.files, out) };
    return { ok: restore(flow.ok), fail: restore(flow.fail), out: plumbing.captured ? { origin: 'local', text: '' } : out };
  }

  function text(source: Text, state: State, span: Span, from: Scene): Flow {
    const subject: Subject = { span, argv: [source], index: undefined };
    if (isForeign(source)) host.report(subject, from, 'blocked', 'runs text from the network or a decoder as a script');
    else if (source.includes(HOLE)) host.report(subject, from, 'unknown', 'runs text that cannot be known in full');
    const script = readScript(source, meter, parsed);
    return walker.script(script, state, { source, span }, deeper(from));
  }

  const host: Interpreter & { run(source: string): void } = {
    context,
    meter,
    session,
    paths,
    expander,
    arithmetic,
    processes,
    simple,
    redirected,
    defined: (body, frame) => {
      if (!bodies.has(body)) bodies.set(body, { frame, called: false });
    },
    called: (body) => {
      const entry = bodies.get(body);
      if (entry !== undefined) entry.called = true;
    },
    text,
    compare,
    report: (subject, from, effect, reason, more) => {
      if (from.remote && !OUTSIDE.has(effect)) return;
      session.report(subject, effect, reason, more);
    },
    run: (source) => {
      const script = readScript(source, meter, parsed);
      const start = initialState(context.cwd, context.home);
      const flow = walker.script(script, start, { source }, scene);
      const end = after(flow, start);
      // Never called here, but it may be called by a trap or a child: judged with arguments nobody knows.
      for (const [body, entry] of bodies) if (!entry.called) walker.compound(body, { ...end, args: undefined }, entry.frame, scene);
      // A net under this whole walk: a command that no part of it came by is not known to be harmless.
      for (const node of parsed) {
        if (!reached.has(node))
          session.report({ span: [0, source.length], argv: [], index: undefined }, 'unknown', 'holds a command that was not judged');
      }
    },
    get walker(): Walker {
      return walker;
    },
    get redirector(): Redirector {
      return redirector;
    },
    get dispatch(): Dispatch {
      return dispatch;
    },
  };
  const walker = createWalker(host);
  const redirector = createRedirector(host);
  const dispatch = createDispatch(host);
  return host;
}

/** Only the variables set for the command alone; `IFS= read x` keeps its x. */
function restored(now: State['vars'], before: State['vars'], variables: readonly Assignment[]): State['vars'] {
  let vars = now;
  for (const { name } of variables) {
    const old = before.get(name);
    vars = old === undefined ? without(vars, name) : withEntry(vars, name, old);
  }
  return vars;
}

const SECRET_NAME =
  /(^|_)(SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|CREDENTIALS?|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|AUTH|KEY|DSN|COOKIE|SESSION)(_|$)/i;
const PUBLIC_NAME =
  /^(PWD|OLDPWD|SSH_AUTH_SOCK|.*_PUBLIC_KEY|.*_KEY_FILE|.*_TOKEN_FILE|KEY|PASS|TOKEN|AUTH|SESSION|XDG_SESSION_.*|DESKTOP_SESSION|[a-z_]+)$/;
