/** What one assessment may cost. Over any of them the text counts as not understood, which is the strictest verdict. */
export const BUDGET = {
  /** Length of the text in UTF-16 units; texts read out of other texts (`sh -c`) count again. */
  chars: 512 * 1024,
  /** Nesting of the syntax tree, in nodes. */
  depth: 400,
  /** Nodes of all trees. */
  nodes: 200_000,
  /** Simple commands looked at, every round of a loop and every call of a function counted. */
  steps: 20_000,
  /** Texts within texts, functions within functions. */
  nesting: 24,
  /** Characters produced by expansion. */
  folding: 1024 * 1024,
  /** Findings kept. */
  findings: 4_096,
} as const;

/** Possible values of one word or variable that are told apart; more are "not known". */
export const ALTERNATIVES = 16;
/** Words one brace expansion may give before it is "not known". */
export const BRACES = 256;
/** Items of a `for` list that get a round of their own; the rest is judged as a set. */
export const ROUNDS = 32;

/** The text can't be understood. Thrown inside the assessor only, and turned into `unparseable` at its door. */
export class NotUnderstood extends Error {
  readonly at: number | undefined;
  constructor(reason: string, at?: number) {
    super(reason);
    this.at = at;
  }
}

export interface Meter {
  chars(count: number): void;
  nodes(count: number): void;
  step(): void;
  fold(count: number): void;
}

export function createMeter(): Meter {
  const used = { chars: 0, nodes: 0, steps: 0, folding: 0 };
  const spend = (what: keyof typeof used, count: number): void => {
    used[what] += count;
    if (used[what] > BUDGET[what]) throw new NotUnderstood(`the command is too large to judge (${what}: more than ${BUDGET[what]})`);
  };
  return {
    chars: (count) => spend('chars', count),
    nodes: (count) => spend('nodes', count),
    step: () => spend('steps', 1),
    fold: (count) => spend('folding', count),
  };
}
