/** The lines of a text: where each begins, where its content ends, and where the next one begins. */
export interface TextLines {
  readonly count: number;
  start(line: number): number;
  end(line: number): number;
  next(line: number): number;
}

/** A line ends at its line feed; a carriage return before that belongs to the ending. A text that ends in one has no empty line after it. */
export function linesOf(text: string): TextLines {
  const starts: number[] = [];
  for (let at = 0; at < text.length; ) {
    starts.push(at);
    const feed = text.indexOf('\n', at);
    if (feed === -1) break;
    at = feed + 1;
  }
  const next = (line: number): number => starts[line + 1] ?? text.length;
  return {
    count: starts.length,
    start: (line) => starts[line] ?? text.length,
    next,
    end: (line) => {
      const after = next(line);
      if (text[after - 1] !== '\n') return after;
      return text[after - 2] === '\r' ? after - 2 : after - 1;
    },
  };
}
