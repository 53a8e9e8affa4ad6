/** What was found: characters `from` to `to` are a secret of this kind. */
export interface Match {
  readonly from: number;
  readonly to: number;
  /** The word in the marker; undefined: an existing marker, which stays as it is. */
  readonly kind: string | undefined;
  /** Sticky, in pieces (`runEnd`). Where the match ends with the text and more is to come: what still belongs to the secret. */
  readonly run?: RegExp;
}

export interface Around {
  /** End of the last secret: nothing before it may be read, so that a second pass over the result decides the same. */
  readonly floor: number;
  /** What lies before this has been answered already and can't be taken back. */
  readonly emitted: number;
  /** No more text will come. */
  readonly final: boolean;
}

/**
 * Looks at one place. `more`: it can't be known without further text (never when final). Every finder looks at a bounded
 * stretch to decide, and only what it then redacts may be longer; that makes a pass linear in the length of the text.
 */
export type Finder = (text: string, at: number, around: Around) => Match | 'more' | undefined;

/**
 * Where a run ends that begins at `from`. The expression takes a piece of at most some thousand characters at a time: for each character of
 * a repetition V8 keeps a place to come back to, and with some millions of them, depending on how the expression was compiled, it throws.
 */
export function runEnd(run: RegExp, text: string, from: number): number {
  for (let at = from; ; at = run.lastIndex) {
    run.lastIndex = at;
    if (!run.test(text) || run.lastIndex === at) return at;
  }
}

/** How far before a place a finder may look. */
export const LOOK_BEHIND = 512;

/**
 * A token can start here: nothing wordlike before it. The end of an escape (`\n`, `%3D`, `\u003d`, a colour code) is no word,
 * although it looks like one.
 */
export function startsHere(text: string, at: number, floor: number, dash: boolean): boolean {
  if (at <= floor) return true;
  const before = text.charCodeAt(at - 1);
  if (!isWord(before) && !(dash && before === 45)) return true;
  const tail = text.slice(Math.max(floor, at - 24), at);
  return /(?:\x1b\[[0-9;:?]{0,20}[A-Za-z]|\\u[0-9a-fA-F]{4}|%[0-9a-fA-F]{2}|\\x[0-9a-fA-F]{2}|(?:^|[^\\])(?:\\\\){0,4}\\{1,2}[nrtbf0])$/.test(
    tail,
  );
}

export function isWord(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57) || code === 95;
}
