import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';
import { descendants } from './processes.ts';

/** A server that says on its first line where it is, and the headers of a client that has been let in. */
export interface Served {
  /** Milliseconds of processor that it and its children have used. */
  cpu(): number;
  post(
    body: object,
    headers?: Readonly<Record<string, string>>,
  ): Promise<{ readonly message: unknown; readonly session: string | undefined }>;
  close(): Promise<void>;
}

interface Place {
  readonly port: number;
  readonly bearer?: string;
}

const MIB = 1024 * 1024;
/** USER_HZ, a constant of the kernel's interface. */
const MS_PER_TICK = 10;

export async function serve(argv: readonly string[]): Promise<Served> {
  const child: ChildProcess = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] });
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`${argv.join(' ')} could not be started`);
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  const place = await new Promise<Place>((found, failed) => {
    createInterface({ input: stdout }).once('line', (line) => found(JSON.parse(line) as Place));
    child.on('close', () => failed(new Error(`${argv.join(' ')} ended`)));
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const fixed = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...(place.bearer === undefined ? {} : { authorization: `Bearer ${place.bearer}` }),
  };
  return {
    cpu: () => [pid, ...descendants(pid)].reduce((sum, each) => sum + cpuOf(each), 0),
    post: (body, headers = {}) =>
      new Promise((done, failed) => {
        const text = JSON.stringify(body);
        const options = { host: '127.0.0.1', port: place.port, path: '/mcp', method: 'POST', agent };
        const sent = request({ ...options, headers: { ...fixed, ...headers, 'content-length': Buffer.byteLength(text) } }, (response) => {
          let answer = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            if (answer.length < MIB) answer += chunk;
          });
          response.on('end', () => {
            if ((response.statusCode ?? 500) >= 300) failed(new Error(`${response.statusCode}: ${answer}`));
            else done({ message: answer === '' ? undefined : JSON.parse(answer), session: response.headers['mcp-session-id'] as string });
          });
        });
        sent.on('error', failed);
        sent.end(text);
      }),
    async close() {
      agent.destroy();
      stdin.end();
      await ended;
    },
  };
}

function cpuOf(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
}
