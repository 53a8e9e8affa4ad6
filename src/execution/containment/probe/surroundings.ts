import { readlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import type { ExecutionConfig } from '../../core-types.ts';
import type { RunSpec } from '../../types.ts';
import type { Facts } from './checks.ts';
import { NAMESPACES } from './script.ts';

/** What a probe compares with and reaches for, whichever backend it tries. */

export function ownNamespaces(): Facts {
  return Object.fromEntries(NAMESPACES.map((name) => [name, readlinkSync(`/proc/self/ns/${name}`)]));
}

export function scratchSpec(scratch: string, { limits }: Pick<ExecutionConfig, 'limits'>, timeout_ms: number): RunSpec {
  return {
    command: '',
    cwd: scratch,
    workspaces: [{ path: scratch, access: 'write' }],
    owner: { organization: 'writ', agent: 'probe', run: 'probe', workspace: 'probe' },
    stdin: 'closed',
    timeout_ms,
    limits,
    openings: [],
    git_config_write: false,
  };
}

/** Something of the host that must not be reached from inside; put with the others that are closed afterwards. */
export async function listen(listeners: Server[], where: { host: string; port: number } | { path: string }): Promise<Server> {
  const server = createServer((socket) => socket.destroy());
  listeners.push(server);
  await new Promise<void>((done, failed) => {
    server.once('error', failed);
    server.listen(where, done);
  });
  return server;
}
