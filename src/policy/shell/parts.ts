import type {
  ArithmeticExpression,
  Assignment,
  Command,
  CompoundCommand,
  CompoundList,
  HereDoc,
  ParsedScript,
  Redirected,
  Redirection,
  Word,
} from 'unbash';
import type { Meter } from '../budget.ts';
import type { PathPolicy } from '../paths/policy.ts';
import type { Session, Span, Subject } from '../session.ts';
import type { Text } from '../text.ts';
import type { AssessContext, Effect, Opening, ParsedCommand, Verdict } from '../types.ts';
import type { Flow, Scene } from './flow.ts';
import type { Frame, State } from './state.ts';
import type { Stream } from './stream.ts';

// How the parts of the shell see each other. The parts call one another in circles, as the grammar does; their files don't.

/** The state while one command is being expanded: `${x:=y}` and `$((x++))` change it on the way. */
export interface Cell {
  state: State;
  readonly frame: Frame;
}

export interface Expander {
  /** Fields of one word after splitting, for every value its variables may have. */
  fields(word: Word, cell: Cell): readonly (readonly Text[])[];
  /** One string, not split: assignments, redirect targets, here-strings, `case`. Globs stay marked. */
  texts(word: Word, cell: Cell): readonly Text[];
  /** The name of a file behind a redirection. More or fewer words than one are an error of bash: it then opens nothing. */
  file(word: Word, cell: Cell): readonly Text[];
  hereDoc(doc: HereDoc, cell: Cell): Text;
  /** Text that a builtin expands again although it was quoted (`test -v 'a[$(x)]'`). Runs what lurks in it. */
  lurking(text: Text, cell: Cell): void;
  assign(assignment: Assignment, cell: Cell): void;
  /** As an argument of `declare` and its like. */
  declared(assignment: Assignment, cell: Cell): void;
  set(name: string, values: readonly Text[], cell: Cell): void;
}

/** Arithmetic, as far as it matters: small constants fold, assignments are noted, and text that would run is found. */
export interface Arithmetic {
  /** The number as text, or "some number". */
  evaluate(expression: ArithmeticExpression, cell: Cell): Text;
  /** A subscript or operand given as text. */
  number(text: Text, cell: Cell): number | undefined;
}

/** Follows the control flow of a tree. Every branch is taken; nothing is pruned. */
export interface Walker {
  script(script: ParsedScript | CompoundList, state: State, frame: Frame, scene: Scene): Flow;
  compound(command: CompoundCommand | Redirected | CompoundList, state: State, frame: Frame, scene: Scene): Flow;
}

/** What the redirects of one command come to. */
export interface Plumbing {
  readonly state: State;
  readonly scene: Scene;
  /** Standard output goes to a file, not down the pipe. */
  readonly captured: boolean;
  /** `exec` without a program keeps them. */
  keeps(argv: readonly Text[]): boolean;
  /** The files as they are after it. */
  wrote(files: State['files'], out: Stream): State['files'];
}

export interface Redirector {
  open(redirects: readonly Redirection[], cell: Cell, scene: Scene): Plumbing;
  close(plumbing: Plumbing, out: Stream): Stream;
}

export interface RunOptions {
  readonly outer: ParsedCommand['outer'];
  /** Assignments among the words were carried out while expanding. */
  readonly declared?: boolean;
  /** Reached through `command`, `builtin` or a program: functions and aliases don't apply. */
  readonly plain?: boolean;
  readonly kept?: State['vars'];
}

/** Decides what a decoded simple command is: a function, an alias, a builtin, a known program, or nothing known. */
export interface Dispatch {
  run(argv: readonly Text[], state: State, span: Span, scene: Scene, options: RunOptions): Flow;
  /** Text that a program hands to a shell. `lenient`: it may not be shell text at all, which then is "unknown", not a refusal. */
  shellText(
    text: Text,
    state: State,
    subject: Subject,
    scene: Scene,
    options: { readonly lenient: boolean; readonly args?: readonly Text[]; readonly zero?: Text | undefined },
  ): Stream;
}

/** The parts of one assessment, as they see each other. */
export interface Interpreter {
  readonly context: AssessContext;
  readonly meter: Meter;
  readonly session: Session;
  readonly paths: PathPolicy;
  readonly expander: Expander;
  readonly arithmetic: Arithmetic;
  readonly walker: Walker;
  readonly redirector: Redirector;
  readonly dispatch: Dispatch;
  /** `<(...)` by the path that stands for it. */
  readonly processes: ReadonlyMap<Text, Stream>;
  simple(node: Command, state: State, frame: Frame, scene: Scene): Flow;
  redirected(node: Redirected, state: State, frame: Frame, scene: Scene, run: (state: State, scene: Scene) => Flow): Flow;
  /** A function body was seen; what is never called is judged at the end. */
  defined(body: CompoundCommand | Redirected | CompoundList, frame: Frame): void;
  called(body: CompoundCommand | Redirected | CompoundList): void;
  /** Expands the words of a comparison: a secret in it is not shown to anybody. */
  compare(really: boolean, expand: () => void): void;
  /** Runs text as a script in this very shell (`eval`). */
  text(source: Text, state: State, span: Span, scene: Scene): Flow;
  report(
    subject: Subject,
    scene: Scene,
    effect: Effect,
    reason: string,
    more?: { readonly verdict?: Verdict; readonly opens?: Opening },
  ): void;
}
