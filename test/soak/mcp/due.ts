import { REVISIONS, type Revision } from '../../../src/mcp/index.ts';

/** A request id that can be given back exactly. */
type Id = string | number;
type Message = Readonly<Record<string, unknown>>;

/**
 * What a byte stream of a client obliges the server to: a second reading of the protocol, shorter and slower than the server's own. Lines of
 * JSON white space and those that are only invisible characters are none.
 */
export interface Due {
  read(bytes: Uint8Array): void;
  /** The input has ended: what is left is a line. */
  end(): void;
  /** How many answers each id gets, and the methods that were asked with it. */
  readonly answers: ReadonlyMap<Id, readonly string[]>;
  /** Ids of which the client said that it doesn't want the answers: each of theirs may come or not. */
  readonly unwanted: ReadonlySet<Id>;
  readonly withoutId: number;
  /** Frames too deep and no JSON: of those among `withoutId` that many may have come with an id, if one could be read. */
  readonly brokenDeep: number;
  readonly session: Revision | undefined;
}

const MAX_LINE = 8 * 1024 * 1024;
const MAX_DEPTH = 128;
const MAX_BATCH = 100;

export function createDue(): Due {
  const answers = new Map<Id, string[]>();
  const unwanted = new Set<Id>();
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let withoutId = 0;
  let brokenDeep = 0;
  let session: Revision | undefined;
  let rest: Buffer = Buffer.alloc(0);

  function readLine(bytes: Buffer): void {
    let text = '';
    let value: unknown;
    try {
      text = bytes.length > MAX_LINE ? 'too long' : decoder.decode(bytes);
      if (text.trim() === '') return;
      value = JSON.parse(text);
    } catch {
      withoutId++;
      if (depthOf(text) > MAX_DEPTH) brokenDeep++;
      return;
    }
    if (depthOf(text) > MAX_DEPTH) answer(isMessage(value) && Object.hasOwn(value, 'method') ? value['id'] : undefined, 'too deep');
    else if (!Array.isArray(value)) readValue(value);
    else if (session !== '2025-03-26' || value.length === 0 || value.length > MAX_BATCH) withoutId++;
    else value.forEach(readValue);
  }

  function readValue(value: unknown): void {
    if (!isMessage(value)) answer(undefined, '');
    else if (value['jsonrpc'] !== '2.0') answer(value['id'], 'no version');
    else if (!Object.hasOwn(value, 'method')) {
      if (!Object.hasOwn(value, 'result') && !Object.hasOwn(value, 'error')) answer(value['id'], 'no method');
    } else readCall(value);
  }

  function readCall(value: Message): void {
    const { id, method, params = {} } = value;
    const isRequest = Object.hasOwn(value, 'id');
    const fine = typeof method === 'string' && (params === null || isMessage(params)) && (!isRequest || isId(id));
    if (!fine) answer(id, 'wrong types');
    else if (isRequest) {
      answer(id, method);
      if (method === 'initialize') session ??= agreed((params ?? {}) as Message);
    } else if (method === 'notifications/cancelled' && isMessage(params) && isId(params['requestId'])) unwanted.add(params['requestId']);
  }

  function answer(id: unknown, method: string): void {
    if (isId(id)) answers.set(id, [...(answers.get(id) ?? []), method]);
    else withoutId++;
  }

  return {
    answers,
    unwanted,
    get withoutId() {
      return withoutId;
    },
    get brokenDeep() {
      return brokenDeep;
    },
    get session() {
      return session;
    },
    read(bytes) {
      const all = Buffer.concat([rest, bytes]);
      let from = 0;
      for (let at = all.indexOf(10); at !== -1; at = all.indexOf(10, from)) {
        readLine(all.subarray(from, at));
        from = at + 1;
      }
      rest = all.subarray(from);
    },
    end() {
      readLine(rest);
    },
  };
}

/** The revision that a handshake ends in; undefined when it is refused. */
function agreed({ protocolVersion, capabilities = {} }: Message): Revision | undefined {
  if (typeof protocolVersion !== 'string' || !isMessage(capabilities)) return undefined;
  const found = (Object.keys(REVISIONS) as Revision[]).find((each) => each === protocolVersion && each !== '2026-07-28');
  return found ?? '2025-11-25';
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isMessage(value: unknown): value is Message {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** How deep the text nests, whatever of it is kept: of two members with one name JSON keeps the last. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const [bracket] of text.replaceAll(/"(?:[^"\\]|\\.)*"?/gs, '').matchAll(/[[\]{}]/g)) {
    depth += bracket === '[' || bracket === '{' ? 1 : -1;
    deepest = Math.max(deepest, depth);
  }
  return deepest;
}
