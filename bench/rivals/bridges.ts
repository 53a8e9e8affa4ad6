import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../free-port.ts';
import { begin, caller, cpuOfTree, httpClient } from '../http-client.ts';
import { ECHO, ECHO_ARGUMENTS } from '../up-with-echo.ts';
import { callsOf } from './exchange.ts';
import type { Package } from './install.ts';
import { sseClient } from './sse-client.ts';

/** What puts a stdio server on HTTP, in the mode in which it is fastest, and how its tool is called there. */
export interface Bridge extends Package {
  readonly mode: string;
  argv(program: string, port: number, folder: string): readonly string[];
  connect(port: number): Promise<Connection>;
}

interface Connection {
  call(): Promise<void>;
  close(): void;
}

export interface RunningBridge extends Omit<Connection, 'close'> {
  /** Milliseconds of processor that it and the server behind it have used. */
  cpu(): number;
  close(): Promise<void>;
}

const READY_MS = 30_000;
const ENDING_MS = 5_000;

export const BRIDGES: readonly Bridge[] = [
  {
    name: 'mcp-proxy',
    version: '6.7.19',
    mode: 'without its event store',
    argv: (program, port) => {
      const how = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream', '--no-eventStore'];
      return [program, ...how, '--', process.execPath, ECHO];
    },
    connect: streamable,
  },
  {
    name: 'supergateway',
    version: '4.0.0',
    mode: 'stateful',
    argv: (program, port) => {
      const how = ['--outputTransport', 'streamableHttp', '--stateful', '--logLevel', 'none', '--port', String(port)];
      return [program, '--stdio', `${process.execPath} ${ECHO}`, ...how];
    },
    connect: streamable,
  },
  {
    name: 'mcp-hub',
    version: '4.2.1',
    mode: 'over SSE, which is all it has',
    argv: (program, port, folder) => {
      const config = join(folder, 'mcp-hub.json');
      writeFileSync(config, JSON.stringify({ mcpServers: { bench: { command: process.execPath, args: [ECHO] } } }));
      return [program, '--port', String(port), '--config', config];
    },
    async connect(port) {
      const exchange = await sseClient(port, '/mcp');
      // Answered with an error until the server behind it is there.
      return { call: await callsOf(exchange, 'bench__echo', ECHO_ARGUMENTS), close: exchange.close };
    },
  },
];

async function streamable(port: number): Promise<Connection> {
  const client = httpClient({ port });
  return { call: caller(client, { name: 'echo', arguments: ECHO_ARGUMENTS }, await begin(client)), close: client.close };
}

/** Once its tool has answered. */
export async function startBridge(bridge: Bridge, program: string, folder: string): Promise<RunningBridge> {
  const port = await freePort();
  const child = spawn(process.execPath, bridge.argv(program, port, folder), { cwd: folder, stdio: 'ignore' });
  const ended = new Promise<void>((done) => child.on('close', () => done()));
  try {
    const { call, close } = await answering(bridge, port, child);
    return {
      call,
      cpu: () => cpuOfTree(child.pid ?? 0),
      close: async () => {
        close();
        await end(child, ended);
      },
    };
  } catch (thrown) {
    await end(child, ended);
    throw thrown;
  }
}

async function answering({ connect }: Bridge, port: number, child: ChildProcess): Promise<Connection> {
  for (const deadline = Date.now() + READY_MS; ; ) {
    let connection: Connection | undefined;
    try {
      connection = await connect(port);
      await connection.call();
      return connection;
    } catch (thrown) {
      connection?.close();
      if (Date.now() > deadline || child.exitCode !== null) throw thrown;
      await setTimeout(100);
    }
  }
}

async function end(child: ChildProcess, ended: Promise<void>): Promise<void> {
  child.kill('SIGTERM');
  await Promise.race([ended, setTimeout(ENDING_MS, undefined, { ref: false })]);
  child.kill('SIGKILL');
  await ended;
}
