import { PassThrough } from 'node:stream';
import { systemClock } from '../../src/kernel/clock.ts';
import { type Logger, silentLogger } from '../../src/kernel/logger.ts';
import { type Revision, type StdioParts, type StdioServer, serveStdio } from '../../src/mcp/index.ts';
import { createFakeGate, type FakeGate, OWNER } from './fake-gate.ts';
import { type Message, schemaOf } from './schema.ts';

export const MODERN_META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

/** A client that knows nothing but lines, on a server in the same process. Every line it gets is validated against the official schema. */
export interface TestClient {
  readonly server: StdioServer;
  readonly gate: FakeGate;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly logged: string[];
  /** Everything received, in order. */
  readonly received: Message[];
  send(...messages: unknown[]): void;
  raw(bytes: string | Uint8Array): void;
  /** The first message from now on, or already here and not taken, that fits. */
  take(fits: (message: Message) => boolean): Promise<Message>;
  answer(id: unknown): Promise<Message>;
  /** A request of 2026-07-28. */
  modern(id: unknown, method: string, params?: object): void;
  initialize(revision: string, capabilities?: object): Promise<Message>;
  /** Ends the input and waits for the end. */
  end(): Promise<void>;
}

export function connect(parts: Partial<StdioParts> = {}): TestClient {
  const input = new PassThrough();
  const output = new PassThrough({ highWaterMark: 1024 });
  const gate = createFakeGate();
  const logged: string[] = [];
  const log = (message: string, data?: Record<string, unknown>): void => void logged.push(`${message} ${JSON.stringify(data ?? {})}`);
  const logger: Logger = { ...silentLogger, info: log, warn: log, error: log };
  const server = serveStdio({
    input,
    output,
    gate,
    toolset: 'default',
    server: { name: 'writ', version: '0.0.0', title: 'Writ' },
    instructions: 'Use shell.',
    clock: systemClock,
    logger,
    scopeOf: async () => ({ owner: OWNER, workspaces: [] }),
    ...parts,
  });

  const received: Message[] = [];
  const untaken: Message[] = [];
  const waiters: { fits: (message: Message) => boolean; resolve: (message: Message) => void }[] = [];
  const asked: { id: unknown; method: string; revision: Revision }[] = [];
  let session: Revision = '2025-11-25';
  let failure: unknown;

  function check(message: Message): void {
    const at = asked.findIndex((each) => each.id === message['id']);
    const question = asked[at];
    if ('result' in message) {
      if (question === undefined) throw new Error(`an answer to nothing: ${JSON.stringify(message)}`);
      asked.splice(at, 1);
      const result = message['result'] as Message;
      if (question.method === 'initialize') session = result['protocolVersion'] as Revision;
      schemaOf(question.method === 'initialize' ? session : question.revision).result(question.method, message);
    } else if ('error' in message) {
      if (question !== undefined) asked.splice(at, 1);
      schemaOf(question?.revision ?? session).error(message);
    } else if ('id' in message) schemaOf(session).request(message);
    else {
      const modern = message['method'] === 'notifications/subscriptions/acknowledged';
      schemaOf(modern ? '2026-07-28' : session).notification(message);
    }
  }

  let rest = '';
  output.on('data', (chunk: Buffer) => {
    rest += chunk.toString('utf8');
    const lines = rest.split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      const value: unknown = JSON.parse(line);
      for (const message of Array.isArray(value) ? value : [value]) {
        try {
          check(message);
        } catch (error) {
          failure ??= error;
        }
      }
      const message = (Array.isArray(value) ? { batch: value } : value) as Message;
      received.push(message);
      const at = waiters.findIndex(({ fits }) => fits(message));
      const [waiter] = at === -1 ? [] : waiters.splice(at, 1);
      if (waiter === undefined) untaken.push(message);
      else waiter.resolve(message);
    }
  });

  function note(message: unknown): void {
    if (Array.isArray(message)) for (const each of message) note(each);
    else if (typeof message === 'object' && message !== null && 'id' in message && 'method' in message) {
      const { params } = message as { params?: { _meta?: Message } };
      const revision = params?._meta?.['io.modelcontextprotocol/protocolVersion'] === undefined ? session : '2026-07-28';
      asked.push({ id: message.id, method: String(message.method), revision });
    }
  }

  async function take(fits: (message: Message) => boolean): Promise<Message> {
    const at = untaken.findIndex(fits);
    const message = at === -1 ? await new Promise<Message>((resolve) => waiters.push({ fits, resolve })) : untaken.splice(at, 1)[0];
    if (failure !== undefined) throw failure;
    if (message === undefined) throw new Error('unreachable');
    return message;
  }

  const client: TestClient = {
    server,
    gate,
    input,
    output,
    logged,
    received,
    send(...messages) {
      for (const message of messages) {
        note(message);
        input.write(`${JSON.stringify(message)}\n`);
      }
    },
    raw: (bytes) => void input.write(bytes),
    take,
    answer: (id) => take((message) => message['id'] === id && !('method' in message)),
    modern: (id, method, params = {}) => client.send({ jsonrpc: '2.0', id, method, params: { ...params, _meta: MODERN_META } }),
    async initialize(protocolVersion, capabilities = {}) {
      const params = { protocolVersion, capabilities, clientInfo: { name: 'test', version: '1' } };
      client.send({ jsonrpc: '2.0', id: 'init', method: 'initialize', params });
      const answer = await client.answer('init');
      client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return answer;
    },
    async end() {
      input.end();
      await server.closed;
      if (failure !== undefined) throw failure;
    },
  };
  return client;
}
