import type { Readable, Writable } from 'node:stream';
import { toAppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { serveStdio } from '../../mcp/index.ts';
import { closeOrphans } from './close-orphans.ts';
import { recordJobEnds } from './job-ends.ts';
import { localScope } from './local-scope.ts';
import { createServing, type ServingParts } from './serving.ts';

export interface McpParts extends ServingParts {
  readonly roots: readonly string[];
  readonly toolset: string;
  readonly input: Readable;
  readonly output: Writable;
}

/** When the first answers are out. */
const AFTER_START_MS = 150;

/** One MCP connection over stdio, from its first byte to the end of its last call. A connection is a Run. */
export async function serveMcp(parts: McpParts): Promise<void> {
  const { facts, home, logger, clock, roots, input, output } = parts;
  const serving = await createServing(parts);
  const run = newId('run', clock.now());
  const server = serveStdio({
    ...serving.serverParts(parts.toolset),
    scopeOf: localScope({ serving, run, roots, facts, home, logger }),
    input,
    output,
  });

  // Off the start-up path: what the first command needs, and what an earlier process left behind.
  const execution = await parts.execution();
  let stopRecording = (): Promise<void> => Promise.resolve();
  const afterwards = setTimeout(() => {
    serving.warmUp();
    const recovery = { execution, audit: parts.audit, home, logger, clock };
    closeOrphans(recovery).catch((thrown: unknown) => logger.warn('recovery failed', { reason: toAppError(thrown).message }));
    stopRecording = recordJobEnds(recovery);
  }, AFTER_START_MS).unref();
  await server.closed;
  clearTimeout(afterwards);
  await stopRecording();
  await execution.close();
  await (await parts.audit()).close();
}
