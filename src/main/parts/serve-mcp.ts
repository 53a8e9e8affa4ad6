import type { Readable, Writable } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { openSideDoor, serveStdio } from '../../mcp/index.ts';
import { afterStart } from './after-start.ts';
import type { Gateway } from './gateway.ts';
import { answerInquiry, createLiveUpstreams } from './live-upstreams.ts';
import { localScope } from './local-scope.ts';
import { once } from './once.ts';
import { createServing, type ServingParts } from './serving.ts';

export interface McpParts extends ServingParts {
  readonly roots: readonly string[];
  readonly toolset: string;
  /** The Run that this connection goes on in; a new one when absent. */
  readonly run?: string;
  readonly input: Readable;
  readonly output: Writable;
}

/** One MCP connection over stdio, from its first byte to the end of its last call. A connection is a Run. */
export async function serveMcp(parts: McpParts): Promise<void> {
  const { facts, home, logger, clock, roots, input, output } = parts;
  let closeSideDoor: (() => void) | undefined;
  // Commands can ask about its upstreams from when it has any.
  const gateway = once(async (): Promise<Gateway> => {
    if (parts.gateway === undefined) throw new AppError('internal', 'This process has no upstreams.');
    const ready = await parts.gateway();
    const live = createLiveUpstreams({ gateway: () => ready, clock, operator: facts.user.name, audit: parts.audit });
    const answer: Parameters<typeof openSideDoor>[0]['answer'] = (inquiry, say, signal) => answerInquiry(inquiry, live, say, signal);
    closeSideDoor = openSideDoor({ home, version: parts.version, logger, answer });
    return ready;
  });
  const serving = await createServing(parts.gateway === undefined ? parts : { ...parts, gateway });
  const run = parts.run ?? newId('run', clock.now());
  const server = serveStdio({
    ...serving.serverParts(parts.toolset),
    scopeOf: localScope({ serving, run, roots, facts, home, logger }),
    input,
    output,
  });
  const execution = await parts.execution();
  const endStart = afterStart({ execution, audit: parts.audit, home, logger, clock }, serving.warmUp);
  await server.closed;
  closeSideDoor?.();
  await endStart();
  await serving.close();
  await (await parts.browsing?.())?.end();
  await execution.close();
  // Where questions could never be opened, nothing of them is left to end.
  await parts.asking().then(
    ({ approvals }) => approvals.close(),
    () => {},
  );
  await (await parts.audit()).close();
}
