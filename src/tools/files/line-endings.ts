export type LineEnding = '\n' | '\r\n';

/** The line ending of a piece of a text: its own where it has one, else that of the line it stands in, else none. */
export function endingAt(text: string, from: number, to: number): LineEnding | undefined {
  let crlf = 0;
  let lf = 0;
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) {
    if (text[at - 1] === '\r') crlf++;
    else lf++;
  }
  if (crlf + lf > 0) return crlf > lf ? '\r\n' : '\n';
  const after = text.indexOf('\n', to);
  const near = after === -1 ? text.lastIndexOf('\n', Math.max(0, from - 1)) : after;
  if (near === -1) return undefined;
  return text[near - 1] === '\r' ? '\r\n' : '\n';
}

/** With every line ended like that; a carriage return alone is an ordinary character. */
export function withEnding(text: string, ending: LineEnding | undefined): string {
  if (ending === undefined) return text;
  const plain = text.replaceAll('\r\n', '\n');
  return ending === '\n' ? plain : plain.replaceAll('\n', '\r\n');
}

/** What a whole text uses. */
export function endingsOf(text: string): 'none' | 'lf' | 'crlf' | 'mixed' {
  let crlf = 0;
  let all = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) {
    all++;
    if (text[at - 1] === '\r') crlf++;
  }
  if (all === 0) return 'none';
  return crlf === 0 ? 'lf' : crlf === all ? 'crlf' : 'mixed';
}
