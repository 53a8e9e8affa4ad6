import type { Socket } from 'node:net';
import { askedByProcess } from '../../approvals/index.ts';
import { findGitRoot } from '../../identity/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { secretValues } from '../../kernel/redaction/index.ts';
import { type Door, type Hello, type Inquiry, openDoor, type StdioServer, serveStdio } from '../../mcp/index.ts';
import { createConfigs } from './configs.ts';
import type { Executions } from './executions.ts';
import { localScope } from './local-scope.ts';
import { createServing, type ServingParts } from './serving.ts';

export interface RelayServerParts extends ServingParts {
  readonly path: string;
  readonly executions: Executions;
  /** What commands of this user want to know. */
  answer(inquiry: Inquiry, say: (value: unknown) => void, signal: AbortSignal): Promise<void>;
}

/**
 * Serves the `writ mcp` processes of this user as if each had done it itself: with its folder, its environment, the configuration as
 * it is when it comes. Only what is the machine's is shared: record, questions, jobs.
 */
export async function serveRelays(parts: RelayServerParts): Promise<Door> {
  const { home, logger, clock } = parts;
  const servers = new Set<StdioServer>();

  async function enter(hello: Hello): Promise<{ run: string; serve(socket: Socket): Promise<void> }> {
    const asked_by = askedByProcess(hello.pid);
    if (asked_by === undefined) throw new AppError('invalid_arguments', 'The relaying process can not be found.');
    const facts = { ...parts.facts, host_env: hello.env, cwd: hello.cwd ?? undefined };
    const configFor = createConfigs({ facts, home: () => home, logger, flags: parts.flags });
    const project = findGitRoot(facts.cwd ?? '/', facts.uid) ?? facts.cwd;
    const config = await configFor(project);
    const lease = parts.executions.lease(facts, config);
    try {
      const serving = await createServing({
        ...parts,
        facts,
        config,
        configFor,
        project,
        redactor: parts.redactor.with(secretValues(hello.env)),
        execution: async () => lease.execution,
        asking: async () => ({ ...(await parts.asking()), asked_by }),
      });
      const run = newId('run', clock.now());
      const serverParts = serving.serverParts(hello.toolset);
      serving.warmUp();
      return {
        run,
        async serve(socket) {
          // It gave up waiting: nothing more would be heard of it.
          if (socket.destroyed) {
            await serving.close();
            return lease.release();
          }
          const scopeOf = localScope({ serving, run, roots: hello.roots, facts, home, logger });
          const server = serveStdio({ ...serverParts, scopeOf, input: socket, output: socket });
          servers.add(server);
          socket.resume();
          await server.closed;
          servers.delete(server);
          await (await parts.browsing?.())?.closeRun(run);
          await serving.close();
          await lease.release();
        },
      };
    } catch (thrown) {
      await lease.release();
      throw thrown;
    }
  }

  const door = await openDoor({ path: parts.path, version: parts.version, logger, enter, answer: parts.answer });
  return {
    async close() {
      await door.close();
      await Promise.all([...servers].map((server) => server.close()));
    },
  };
}
