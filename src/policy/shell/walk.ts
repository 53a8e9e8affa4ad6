import type {
  AndOr,
  CommandNode,
  CompoundCommand,
  CompoundList,
  Coproc,
  For,
  Pipeline,
  PipelineNode,
  Redirected,
  Select,
  Statement,
  TestExpression,
  Word,
} from 'unbash';
import { ROUNDS } from '../budget.ts';
import { HOLE, isKnown, type Text } from '../text.ts';
import { after, both, type Flow, joinFlows, joinMaybe, type Scene } from './flow.ts';
import type { Cell, Interpreter, Walker } from './parts.ts';

import { distinct, type Frame, joinStates, type State, sameState, widened, withEntry } from './state.ts';
import { eitherStream, LOCAL, NOTHING, type Stream, thenStream } from './stream.ts';

/** A file now holds text from the network or a decoder that didn't before. */
function gainedForeign(before: State['files'], now: State['files']): boolean {
  if (before === now) return false;
  for (const [path, { origin }] of now) if (origin !== 'local' && before.get(path)?.origin !== origin) return true;
  return false;
}

const ARITHMETIC_TEST = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

export function createWalker(host: Interpreter): Walker {
  function list(statements: readonly Statement[], start: State, frame: Frame, scene: Scene): Flow {
    let state = start;
    let flow: Flow = both(state, NOTHING);
    let out: Stream = NOTHING;
    for (const statement of statements) {
      flow = one(statement, state, frame, scene);
      out = thenStream(out, flow.out);
      state = after(flow, state);
    }
    // What runs in the background may read what a later command writes (`sh pipe & curl ... > pipe`).
    if (statements.some(({ background }) => background) && gainedForeign(start.files, state.files)) {
      for (const statement of statements) if (statement.background) one(statement, { ...start, files: state.files }, frame, scene);
    }
    return { ok: flow.ok, fail: flow.fail, out: statements.length === 0 ? NOTHING : out };
  }

  function one(statement: Statement, state: State, frame: Frame, scene: Scene): Flow {
    if (statement.background) {
      const flow = andOr(statement.command, state, frame, { ...scene, forks: scene.forks + 1 });
      // It runs in a copy of the shell, but its files are everybody's.
      const files = after(flow, state).files;
      return both(files === state.files ? state : { ...state, files }, flow.out);
    }
    return andOr(statement.command, state, frame, scene);
  }

  function andOr(node: AndOr | PipelineNode, state: State, frame: Frame, scene: Scene): Flow {
    if (node.type !== 'AndOr') return pipelineNode(node, state, frame, scene);
    const [first, ...rest] = node.commands;
    if (first === undefined) return both(state);
    let flow = pipelineNode(first, state, frame, scene);
    let before = state;
    rest.forEach((command, index) => {
      const and = node.operators[index] === '&&';
      const from = (and ? flow.ok : flow.fail) ?? before;
      before = from;
      const next = pipelineNode(command, from, frame, scene);
      const out = thenStream(flow.out, next.out);
      flow = and ? { ok: next.ok, fail: joinMaybe(flow.fail, next.fail), out } : { ok: joinMaybe(flow.ok, next.ok), fail: next.fail, out };
    });
    return flow;
  }

  function pipelineNode(node: PipelineNode, state: State, frame: Frame, scene: Scene): Flow {
    return node.type === 'Pipeline' ? pipeline(node, state, frame, scene) : command(node, state, frame, scene);
  }

  function pipeline(node: Pipeline, state: State, frame: Frame, scene: Scene): Flow {
    const only = node.commands.length === 1 ? node.commands[0] : undefined;
    let flow: Flow;
    if (only !== undefined) flow = command(only, state, frame, scene);
    else {
      let stdin = scene.stdin;
      let files = state.files;
      for (const stage of node.commands) {
        // Stages run at the same time: what one writes another may read, so files are handed on.
        const result = command(stage, { ...state, files }, frame, { ...scene, stdin, forks: scene.forks + 1 });
        files = after(result, state).files;
        stdin = result.out.none ? LOCAL : result.out;
      }
      // ... and an earlier stage may read what a later one writes, through a named pipe.
      if (gainedForeign(state.files, files)) {
        let again = scene.stdin;
        for (const stage of node.commands) {
          const result = command(stage, { ...state, files }, frame, { ...scene, stdin: again, forks: scene.forks + 1 });
          again = result.out.none ? LOCAL : result.out;
        }
      }
      flow = both(files === state.files ? state : { ...state, files }, stdin);
    }
    return node.prefixes.some((prefix) => prefix.type === 'Negation') ? { ...flow, ok: flow.fail, fail: flow.ok } : flow;
  }

  function command(node: CommandNode, state: State, frame: Frame, scene: Scene): Flow {
    switch (node.type) {
      case 'Command':
        return host.simple(node, state, frame, scene);
      case 'Function':
        host.defined(node.body, frame);
        return both({ ...state, functions: withEntry(state.functions, node.name.value, { body: node.body, frame }) }, NOTHING);
      case 'Coproc':
        return coprocess(node, state, frame, scene);
      default:
        return compound(node, state, frame, scene);
    }
  }

  function coprocess(node: Coproc, state: State, frame: Frame, scene: Scene): Flow {
    const inside = { ...scene, forks: scene.forks + 1 };
    if (node.body.type === 'Command') host.simple(node.body, state, frame, inside);
    else compound(node.body, state, frame, inside);
    return both(state, NOTHING);
  }

  function compound(node: CompoundCommand | Redirected | CompoundList, state: State, frame: Frame, scene: Scene): Flow {
    host.meter.step();
    switch (node.type) {
      case 'Redirected':
        return host.redirected(node, state, frame, scene, (inner, stage) => compound(node.command, inner, frame, stage));
      case 'CompoundList':
        return list(node.commands, state, frame, scene);
      case 'BraceGroup':
        return list(node.body.commands, state, frame, scene);
      case 'Subshell': {
        const flow = list(node.body.commands, state, frame, { ...scene, forks: scene.forks + 1 });
        return both({ ...state, files: after(flow, state).files }, flow.out);
      }
      case 'If': {
        const clause = list(node.clause.commands, state, frame, scene);
        const reached = clause.ok ?? after(clause, state);
        let flow = list(node.then.commands, reached, frame, scene);
        let rest = clause.fail ?? after(clause, state);
        let live = clause.fail !== undefined;
        for (const elif of node.elif) {
          const next = list(elif.clause.commands, rest, frame, scene);
          flow = joinFlows(flow, list(elif.then.commands, next.ok ?? after(next, rest), frame, scene));
          live &&= next.fail !== undefined;
          rest = next.fail ?? after(next, rest);
        }
        if (node.else !== undefined) return joinFlows(flow, list(node.else.commands, rest, frame, scene));
        return live ? joinFlows(flow, both(rest, NOTHING)) : flow;
      }
      case 'While':
        return loop(state, (from) => {
          const clause = list(node.clause.commands, from, frame, scene);
          return list(node.body.commands, (node.kind === 'until' ? clause.fail : clause.ok) ?? after(clause, from), frame, scene);
        });
      case 'ArithmeticFor': {
        const cell: Cell = { state, frame };
        if (node.initialize !== undefined) host.arithmetic.evaluate(node.initialize, cell);
        return loop(cell.state, (from) => {
          const inside: Cell = { state: from, frame };
          if (node.test !== undefined) host.arithmetic.evaluate(node.test, inside);
          if (node.update !== undefined) host.arithmetic.evaluate(node.update, inside);
          return list(node.body.commands, inside.state, frame, scene);
        });
      }
      case 'For':
      case 'Select':
        return forEach(node, state, frame, scene);
      case 'Case': {
        const cell: Cell = { state, frame };
        host.expander.texts(node.word, cell);
        let flow: Flow = both(cell.state, NOTHING);
        let falls: State | undefined;
        for (const item of node.items) {
          for (const pattern of item.pattern) host.expander.texts(pattern, cell);
          const from = falls === undefined ? cell.state : joinStates(cell.state, falls);
          const next = list(item.body.commands, from, frame, scene);
          falls = item.terminator === ';&' ? after(next, from) : undefined;
          flow = joinFlows(flow, next);
        }
        return flow;
      }
      case 'TestCommand': {
        const cell: Cell = { state, frame };
        host.compare(true, () => test(node.expression, cell));
        return both(cell.state, NOTHING);
      }
      case 'ArithmeticCommand': {
        const cell: Cell = { state, frame };
        if (node.expression !== undefined) host.arithmetic.evaluate(node.expression, cell);
        return both(cell.state, NOTHING);
      }
    }
  }

  /** Rounds until nothing new is seen; what still changes then is not known any more. */
  function loop(start: State, round: (from: State) => Flow): Flow {
    let state = start;
    let out: Stream = NOTHING;
    for (let i = 0; i < 4; i++) {
      const flow = round(state);
      const next = joinStates(state, after(flow, state));
      out = i === 0 ? flow.out : eitherStream(out, flow.out);
      if (sameState(state, next)) return both(next, out);
      state = i < 2 ? next : widened(state, next);
    }
    return both(state, { origin: out.origin });
  }

  function forEach(node: For | Select, state: State, frame: Frame, scene: Scene): Flow {
    const cell: Cell = { state, frame };
    const items = node.wordlist === undefined ? (state.args ?? [HOLE]) : wordlist(node.wordlist, cell);
    const name = node.name.value;
    const bind = (from: State, values: readonly Text[]): State => {
      const inside: Cell = { state: from, frame };
      host.expander.set(name, values, inside);
      return inside.state;
    };
    const body = (from: State): Flow => list(node.body.commands, from, frame, scene);
    if (items.length === 0) {
      // It isn't run, and is judged all the same: nothing is pruned.
      body(bind(cell.state, [HOLE]));
      return both(cell.state, NOTHING);
    }
    if (items.length > ROUNDS || node.type === 'Select') {
      const values = distinct(items);
      return loop(cell.state, (from) => body(bind(from, values)));
    }
    let current = cell.state;
    let out: Stream = NOTHING;
    for (const item of items) {
      // One word that stands for many names goes round more than once.
      const flow = isKnown(item) ? body(bind(current, [item])) : loop(current, (from) => body(bind(from, [item])));
      out = thenStream(out, flow.out);
      current = after(flow, current);
    }
    return both(items.every(isKnown) && items.length > 0 ? current : joinStates(cell.state, current), out);
  }

  function wordlist(words: readonly Word[], cell: Cell): readonly Text[] {
    return words.flatMap((word) => {
      const options = host.expander.fields(word, cell);
      return options.length === 1 ? (options[0] ?? []) : options.flat();
    });
  }

  function test(expression: TestExpression, cell: Cell): void {
    switch (expression.type) {
      case 'TestUnary':
        for (const text of host.expander.texts(expression.operand, cell))
          if (expression.operator === '-v') host.expander.lurking(text, cell);
        return;
      case 'TestBinary':
        for (const side of [expression.left, expression.right]) {
          for (const text of host.expander.texts(side, cell))
            if (ARITHMETIC_TEST.has(expression.operator)) host.arithmetic.number(text, cell);
        }
        return;
      case 'TestLogical':
        for (const operand of expression.operands) test(operand, cell);
        return;
      case 'TestNot':
        test(expression.operand, cell);
        return;
      case 'TestGroup':
        test(expression.expression, cell);
        return;
    }
  }

  return {
    script: (script, state, frame, scene) => list(script.commands, state, frame, scene),
    compound,
  };
}
