import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

const ANSWER_MS = 60_000;

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A client of one server on standard input and output. */
export interface Client {
  readonly pid: number;
  request(method: string, params: object): Promise<unknown>;
  /** Calls a tool and insists on a result that is no error. */
  call(tool: string, args: object): Promise<void>;
  close(): Promise<void>;
}

/** Starts a server with Node, as an agent would. */
export function start(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Client {
  const child: ChildProcess = spawn(process.execPath, argv, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'ignore'] });
  const { stdin, stdout, pid } = child;
  if (stdin === null || stdout === null || pid === undefined) throw new Error(`${argv.join(' ')} could not be started`);
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  const waiting = new Map<number, (answer: Answer) => void>();
  createInterface({ input: stdout }).on('line', (line) => {
    const message = JSON.parse(line) as Answer;
    if (message.id !== undefined) waiting.get(message.id)?.(message);
  });
  let last = 0;
  const request = (method: string, params: object): Promise<unknown> =>
    new Promise((answer, refuse) => {
      const id = ++last;
      const timer = setTimeout(() => refuse(new Error(`no answer to ${method}`)), ANSWER_MS);
      waiting.set(id, ({ result, error }) => {
        clearTimeout(timer);
        waiting.delete(id);
        if (error === undefined) answer(result);
        else refuse(new Error(`${method}: ${JSON.stringify(error)}`));
      });
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    });
  return {
    pid,
    request,
    async call(tool, args) {
      const answer = (await request('tools/call', { name: tool, arguments: args })) as { isError?: boolean };
      if (answer.isError) throw new Error(`${tool} refused: ${JSON.stringify(answer)}`);
    },
    async close() {
      stdin.end();
      await ended;
    },
  };
}

/** `writ mcp` for one Workspace, hands shaken. */
export async function connect(program: string, workspace: string, home: string): Promise<Client> {
  const client = start([program, 'mcp', '--root', workspace], { WRIT_HOME: home });
  await client.request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  return client;
}
