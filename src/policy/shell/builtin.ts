import type { Call } from '../programs/program.ts';
import type { Subject } from '../session.ts';
import type { Flow, Scene } from './flow.ts';
import type { Cell, Interpreter } from './parts.ts';
import type { Stream } from './stream.ts';

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
