import type { Readable, Writable } from 'node:stream';
import type { ProcessFacts } from '../../kernel/config/index.ts';
import type { Logger } from '../../kernel/logger.ts';
import { isOwnSocket, knock, relay, socketPath } from '../../mcp/index.ts';

export interface RelayMcpParts {
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly version: string;
  readonly roots: readonly string[];
  readonly toolset: string;
  readonly logger: Logger;
  readonly input: Readable;
  readonly output: Writable;
  /** Serves what is left of a conversation whose `writ up` has died, in the same Run. */
  standalone(streams: { readonly input: Readable; readonly output: Writable; readonly run: string }): Promise<void>;
}

/** True: `writ up` served the whole conversation. False: none runs, or it doesn't serve this one, and nothing was read yet. */
export async function relayMcp(parts: RelayMcpParts): Promise<boolean> {
  const { facts, logger, input, output } = parts;
  const path = socketPath(parts.home);
  if (path === undefined || !isOwnSocket(path, facts.uid)) return false;
  const knocked = await knock(path, {
    version: parts.version,
    pid: facts.pid,
    toolset: parts.toolset,
    roots: parts.roots,
    cwd: facts.cwd ?? null,
    env: facts.host_env,
  });
  if (knocked.type === 'sent_away') {
    logger.warn('`writ up` does not serve this agent, so it is served by this process alone', { reason: knocked.why });
  }
  if (knocked.type !== 'let_in') return false;
  const { socket, run } = knocked;
  await relay({ socket, input, output, logger, standalone: (onwards, back) => parts.standalone({ input: onwards, output: back, run }) });
  return true;
}
