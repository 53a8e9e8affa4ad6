import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { descendants } from './processes.ts';

export interface Place {
  readonly port: number;
  readonly bearer?: string;
}

export type Headers = Readonly<Record<string, string>>;

/** A client that has been let in at `/mcp`, over at most 64 connections that stay open. */
export interface HttpClient {
  post(body: object, headers?: Headers): Promise<{ readonly message: unknown; readonly session: string | undefined }>;
  close(): void;
}

export function httpClient({ port, bearer }: Place): HttpClient {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const fixed = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
  };
  return {
    post: (body, headers = {}) =>
      new Promise((done, failed) => {
        const text = JSON.stringify(body);
        const all = { ...fixed, ...headers, 'content-length': Buffer.byteLength(text) };
        const sent = request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', agent, headers: all }, (response) => {
          let answer = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            answer += chunk;
          });
          response.on('end', () => {
            if ((response.statusCode ?? 500) >= 300) failed(new Error(`${response.statusCode}: ${answer}`));
            else done({ message: messageOf(answer), session: sessionOf(response.headers) });
          });
        });
        sent.on('error', failed);
        sent.end(text);
      }),
    close: () => agent.destroy(),
  };
}

/** Some answer with a stream of one event. */
function messageOf(answer: string): unknown {
  if (answer === '' || answer.startsWith('{')) return answer === '' ? undefined : JSON.parse(answer);
  const data = answer.split('\n').findLast((line) => line.startsWith('data: {'));
  return data === undefined ? undefined : JSON.parse(data.slice('data: '.length));
}

function sessionOf(headers: NodeJS.Dict<string | string[]>): string | undefined {
  const id = headers['mcp-session-id'];
  return typeof id === 'string' ? id : undefined;
}

/** A server that says on its first line where it is. */
export interface Served extends Omit<HttpClient, 'close'> {
  readonly port: number;
  /** Milliseconds of processor that it and its children have used. */
  cpu(): number;
  close(): Promise<void>;
}

export async function serve(argv: readonly string[]): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`${argv.join(' ')} could not be started`);
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  const place = await new Promise<Place>((found, failed) => {
    createInterface({ input: stdout }).once('line', (line) => found(JSON.parse(line) as Place));
    child.on('close', () => failed(new Error(`${argv.join(' ')} ended`)));
  });
  const client = httpClient(place);
  return {
    port: place.port,
    post: client.post,
    cpu: () => cpuOfTree(pid),
    async close() {
      client.close();
      stdin.end();
      await ended;
    },
  };
}

/** Milliseconds of processor that a process and what it started have used. */
export function cpuOfTree(pid: number): number {
  return [pid, ...descendants(pid)].reduce((sum, each) => sum + cpuOf(each), 0);
}

/** USER_HZ, a constant of the kernel's interface. */
const MS_PER_TICK = 10;

function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}

/** A session of 2025-11-25. */
export async function begin(client: Pick<HttpClient, 'post'>): Promise<Headers> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } };
  const { session } = await client.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  if (session === undefined) throw new Error('no session began');
  const headers = { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': session };
  await client.post({ jsonrpc: '2.0', method: 'notifications/initialized' }, headers);
  return headers;
}

/** Calls a tool and insists on the right answer. */
export function caller(client: Pick<HttpClient, 'post'>, params: object, headers: Headers): () => Promise<void> {
  let last = 0;
  return async () => {
    const id = ++last;
    const { message } = await client.post({ jsonrpc: '2.0', id, method: 'tools/call', params }, headers);
    const answer = message as { readonly id?: unknown; readonly result?: { readonly isError?: boolean } };
    if (answer.id !== id || answer.result === undefined || answer.result.isError) throw new Error(JSON.stringify(message));
  };
}

/** Calls a second, with so many on their way at a time. */
export async function rateOf(call: () => Promise<void>, calls: number, in_flight: number): Promise<number> {
  let left = calls;
  const one = async (): Promise<void> => {
    while (left-- > 0) await call();
  };
  const since = performance.now();
  await Promise.all(Array.from({ length: in_flight }, one));
  return calls / ((performance.now() - since) / 1000);
}
