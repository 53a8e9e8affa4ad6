import { type ChildProcess, spawn } from 'node:child_process';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(import.meta.dirname, '..');
/** The built program, as an agent would start it. */
const WRIT = [process.execPath, join(root, 'bin', 'writ.mjs')] as const;
const ANSWER_MS = 60_000;

interface Answer {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface Client {
  request(method: string, params: object): Promise<unknown>;
  close(): Promise<void>;
}

/** Starts `writ mcp` for one Workspace and shakes hands. */
export async function connect(workspace: string, home: string): Promise<Client> {
  const child: ChildProcess = spawn(WRIT[0], [WRIT[1], 'mcp', '--root', workspace], {
    env: { ...process.env, WRIT_HOME: home },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('no pipes');
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
  await request('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } });
  stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  return {
    request,
    close: async () => {
      stdin.end();
      await ended;
    },
  };
}
