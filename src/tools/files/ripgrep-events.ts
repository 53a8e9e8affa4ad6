/** What `rg --json` says, as far as it is used. */
export type SearchEvent =
  | { readonly type: 'begin'; readonly path: string }
  | { readonly type: 'line'; readonly match: boolean; readonly line: number; readonly text: string; readonly at: number }
  | { readonly type: 'end'; readonly path: string; readonly binary: boolean }
  | { readonly type: 'oversized' };

/** One line of its output; a longer one is a line of a file that nobody could read anyway. */
const MAX_EVENT_BYTES = 16 * 1024 * 1024;
const FEED = 10;

const MATCH = Buffer.from('{"type":"match"');
const CONTEXT = Buffer.from('{"type":"context"');
const COUNTED: SearchEvent = { type: 'line', match: true, line: 0, text: '', at: 0 };

/** Cuts the output into events. While `skims` says so, lines are only counted and not looked into. */
export function createEventReader(skims: () => boolean): (chunk: Buffer) => Generator<SearchEvent> {
  let held: Buffer[] = [];
  let size = 0;
  let skipping = false;
  return function* read(chunk) {
    let from = 0;
    for (let feed = chunk.indexOf(FEED); feed !== -1; feed = chunk.indexOf(FEED, from)) {
      const piece = chunk.subarray(from, feed);
      from = feed + 1;
      if (!skipping) {
        const line = held.length === 0 ? piece : Buffer.concat([...held, piece]);
        const event = skims() ? skim(line) : parse(line);
        if (event) yield event;
      }
      held = [];
      size = 0;
      skipping = false;
    }
    const rest = chunk.subarray(from);
    size += rest.length;
    if (skipping || rest.length === 0) return;
    if (size <= MAX_EVENT_BYTES) held.push(rest);
    else {
      held = [];
      skipping = true;
      yield { type: 'oversized' };
    }
  };
}

function skim(line: Buffer): SearchEvent | undefined {
  if (line.subarray(0, MATCH.length).equals(MATCH)) return COUNTED;
  return line.subarray(0, CONTEXT.length).equals(CONTEXT) ? undefined : parse(line);
}

type Text = { readonly text: string } | { readonly bytes: string };
interface Raw {
  readonly type: string;
  readonly data: {
    readonly path?: Text;
    readonly lines?: Text;
    readonly line_number?: number;
    readonly submatches?: readonly { readonly start: number }[];
    readonly binary_offset?: number | null;
  };
}

function parse(line: Buffer): SearchEvent | undefined {
  const { type, data } = JSON.parse(line.toString('utf8')) as Raw;
  if (type === 'begin') return { type, path: pathOf(data) };
  if (type === 'end') return { type, path: pathOf(data), binary: data.binary_offset != null };
  if (type !== 'match' && type !== 'context') return undefined;
  const text = textOf(data.lines).replace(/\r?\n$/, '');
  return { type: 'line', match: type === 'match', line: data.line_number ?? 0, text, at: data.submatches?.[0]?.start ?? 0 };
}

const pathOf = (data: Raw['data']): string => textOf(data.path).replace(/^\.\//, '');

function textOf(text: Text | undefined): string {
  if (text === undefined) return '';
  return 'text' in text ? text.text : Buffer.from(text.bytes, 'base64').toString('utf8');
}
