import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PREPARED } from './prepared.ts';
import { CLI } from './programs.ts';

export const WRIT = [process.execPath, '--disable-warning=ExperimentalWarning', fileURLToPath(CLI)] as const;

/** Folders of one test: a Writ home and a Workspace, both gone afterwards. */
export interface Place {
  readonly home: string;
  readonly workspace: string;
  readonly env: Record<string, string>;
  remove(): void;
}

export function makePlace(): Place {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-e2e-')));
  const home = join(base, 'writ-home');
  const workspace = mkdtempSync(join(base, 'work-'));
  PREPARED.giveProof(home);
  return {
    home,
    workspace,
    env: {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      WRIT_HOME: home,
      LANG: 'C.UTF-8',
      ...(process.env['NODE_COMPILE_CACHE'] ? { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] } : {}),
    },
    remove: () => {
      PREPARED.keepProof(home);
      rmSync(base, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

export interface ToolResult {
  readonly isError: boolean;
  readonly text: string;
  readonly structured: Record<string, unknown>;
}

export interface McpProcess {
  readonly child: ChildProcess;
  readonly stderr: () => string;
  /** The result member of the answer; rejects with the protocol error's message. */
  ask(method: string, params?: unknown, id?: number | string): Promise<Record<string, unknown>>;
  tell(method: string, params?: unknown): void;
  raw(line: string): void;
  call(tool: string, args: unknown): Promise<ToolResult>;
  /** Ends the input and waits for the exit code. */
  end(): Promise<number | null>;
  /** Resolves with the exit code once the process is gone. */
  readonly exited: Promise<number | null>;
}

export interface McpOptions {
  readonly args?: readonly string[];
  readonly cwd?: string;
  readonly handshake?: boolean;
  readonly argv?: readonly string[];
  /** What the client says of itself in the handshake. */
  readonly capabilities?: object;
  /** Answers a request of the server; without it there is no answer. */
  readonly onRequest?: (method: string, params: Record<string, unknown>) => unknown;
  readonly onNotification?: (method: string, params: Record<string, unknown>) => void;
}

/** `writ mcp` as a host starts it, after the handshake. */
export async function startMcp(place: Place, options: McpOptions = {}): Promise<McpProcess> {
  const [command = process.execPath, ...base] = options.argv ?? WRIT;
  const child = spawn(command, [...base, 'mcp', ...(options.args ?? ['--root', place.workspace])], {
    cwd: options.cwd ?? place.workspace,
    env: place.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-100_000);
  });
  const waiting = new Map<number | string, { resolve: (value: Record<string, unknown>) => void; reject: (error: Error) => void }>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = parseMessage(line);
    if (message === undefined) {
      // The last line of a process that was killed may be half a message; from any other it is a fault.
      void exited.then(() => {
        if (child.signalCode === null) throw new Error(`writ mcp printed what is no message: ${line.slice(0, 200)}`);
      });
      return;
    }
    if (message.method !== undefined && message.id !== undefined) {
      const result = options.onRequest?.(message.method, message.params ?? {});
      if (result !== undefined) raw(JSON.stringify({ jsonrpc: '2.0', id: message.id, result }));
      return;
    }
    if (message.method !== undefined) options.onNotification?.(message.method, message.params ?? {});
    const pending = message.id === undefined ? undefined : waiting.get(message.id);
    if (!pending || message.id === undefined) return;
    waiting.delete(message.id);
    if (message.error) pending.reject(Object.assign(new Error(message.error.message), { code: message.error.code }));
    else pending.resolve(message.result ?? {});
  });
  const exited = new Promise<number | null>((resolve) => {
    child.on('exit', (code) => {
      for (const pending of waiting.values()) pending.reject(new Error(`writ mcp ended (${code}); stderr: ${stderr.slice(-2000)}`));
      waiting.clear();
      resolve(code);
    });
  });
  child.stdin.on('error', () => {});
  let last = 0;
  const raw = (line: string): void => void child.stdin.write(`${line}\n`);
  const ask = (method: string, params: unknown = {}, id: number | string = ++last): Promise<Record<string, unknown>> =>
    new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      raw(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  const tell = (method: string, params: unknown = {}): void => raw(JSON.stringify({ jsonrpc: '2.0', method, params }));
  if (options.handshake !== false) {
    const { capabilities = {} } = options;
    await ask('initialize', { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } });
    tell('notifications/initialized');
  }
  return {
    child,
    stderr: () => stderr,
    ask,
    tell,
    raw,
    call: async (tool, args) => {
      const result = await ask('tools/call', { name: tool, arguments: args });
      const content = (result['content'] ?? []) as { text?: string }[];
      return {
        isError: result['isError'] === true,
        text: content.map((part) => part.text ?? '').join('\n'),
        structured: (result['structuredContent'] ?? {}) as Record<string, unknown>,
      };
    },
    end: () => {
      child.stdin.end();
      return exited;
    },
    exited,
  };
}

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string; readonly code: number };
}

function parseMessage(line: string): Message | undefined {
  try {
    return JSON.parse(line) as Message;
  } catch {
    return undefined;
  }
}

/** Runs `writ ARGS` to its end. */
export async function runWrit(
  place: Place,
  args: readonly string[],
  options: { cwd?: string; input?: string; argv?: readonly string[] } = {},
): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const [command = process.execPath, ...base] = options.argv ?? WRIT;
  const child = spawn(command, [...base, ...args], {
    cwd: options.cwd ?? place.workspace,
    env: place.env,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin.on('error', () => {});
  child.stdin.end(options.input ?? '');
  const collect = async (stream: NodeJS.ReadableStream): Promise<string> => {
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return text;
  };
  const [stdout, stderr, code] = await Promise.all([
    collect(child.stdout),
    collect(child.stderr),
    new Promise<number | null>((resolve) => {
      child.on('exit', resolve);
    }),
  ]);
  return { code, stdout, stderr };
}
