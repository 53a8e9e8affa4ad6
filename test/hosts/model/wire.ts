import type { ServerResponse } from 'node:http';

/** The words of the scripted model. A wire is one vendor's form of a request for the next turn; the script knows none of them. */

export interface Call {
  /** What the step is for, where somebody asks for it later. */
  readonly label?: string;
  readonly tool: string;
  /** A tool of Writ under whatever prefix the host gives it, else one of the host's own. */
  readonly of: 'writ' | 'host';
  readonly args: Readonly<Record<string, unknown>>;
  /** What is called where the host doesn't offer that tool (any more). */
  readonly otherwise?: Call;
}

/** What a model is given back for one of its calls. */
export interface Seen {
  readonly text: string;
  /** Whether the wire marks it as an error; undefined where it has no such mark. */
  readonly marked: boolean | undefined;
}

/** A tool as the host offers it; Codex groups those of a server in a namespace. */
export interface Offered {
  readonly name: string;
  readonly namespace?: string;
  readonly description: string;
}

/** The next turn: a call (the how-manieth of this conversation) or the last word. */
export type Turn = { readonly type: 'call'; readonly index: number; readonly tool: Offered; readonly args: Call['args'] } | Words;
export interface Words {
  readonly type: 'words';
  readonly text: string;
}

export interface Wire {
  readonly path: RegExp;
  offered(body: Body): Offered[];
  /** The results of the script's own calls, oldest first. */
  results(body: Body): Seen[];
  answer(response: ServerResponse, body: Body, turn: Turn, path: string): void;
}

/** A JSON object of somebody else's making. */
export interface Body {
  readonly [member: string]: unknown;
}

/** How call ids of ours begin, so that results of a host's own making are told apart. */
export const CALL_ID = 'call_scripted_';

export function objects(value: unknown): Body[] {
  return Array.isArray(value) ? value.filter((each): each is Body => typeof each === 'object' && each !== null) : [];
}

export function object(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}

/** Text as a model would read it: strings as they are, parts of type text joined, anything else as JSON. */
export function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value))
    return value.map((part) => (typeof object(part)['text'] === 'string' ? object(part)['text'] : asText(part))).join('\n');
  return value === undefined ? '' : JSON.stringify(value);
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

/** Server-sent events, all at once; an event without a name carries data alone. */
export function sendEvents(response: ServerResponse, events: readonly (readonly [name: string, data: unknown])[]): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  for (const [name, data] of events) {
    response.write(`${name === '' ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`);
  }
  response.end();
}
