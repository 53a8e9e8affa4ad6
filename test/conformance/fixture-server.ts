import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askedBySelf, createApprovals, createGrants, createTaints } from '../../src/approvals/index.ts';
import type { AuditLog } from '../../src/audit/index.ts';
import { createGate } from '../../src/gate/index.ts';
import { createHomeSigner } from '../../src/identity/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { createRedactor } from '../../src/kernel/redaction/index.ts';
import { systemUptime } from '../../src/kernel/uptime.ts';
import { openDatabase } from '../../src/main/parts/database.ts';
import { createMcpHandler, MCP_SERVER_OPTIONS } from '../../src/mcp/index.ts';
import { FIXTURE_TOOLS } from './fixture-tools.ts';

const EXEC = 'exec_01k0000000000000000000';
const OWNER = { organization: 'org_test', agent: 'agent_test', run: 'run_test', workspace: '/' };

/** The transport, the gate and the approvals as they are shipped, over the fixture tools; the audit goes nowhere. */
export async function startFixture(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const home = mkdtempSync(join(tmpdir(), 'writ-conformance-'));
  const database = openDatabase(home, new URL('../../src/main/writer-thread.ts', import.meta.url));
  const audit = async (): Promise<AuditLog> =>
    ({ record: async () => {}, enqueue: () => {}, close: async () => {} }) as unknown as AuditLog;
  const parts = { clock: systemClock, logger: silentLogger, redactor: createRedactor({ known_values: [] }) };
  const store = { store: database.store, reader: database.reader, audit, ...parts };
  const approvals = createApprovals({ ...store, uptime: systemUptime() });
  const people = {
    approvals,
    grants: createGrants(store),
    taints: createTaints(store),
    asked_by: askedBySelf(),
    waitMs: () => 1_000,
    has_page: false,
  };
  const gate = createGate({
    tools: FIXTURE_TOOLS,
    allows: () => true,
    policyOf: () => ({ rules: { classes: {}, deny: [], prompt: [], allow: [] }, nonInteractive: 'deny' }),
    people: async () => people,
    audit,
    ...parts,
  });
  const scope = { owner: OWNER, workspaces: [{ path: '/', access: 'read' as const }] };
  // Some scenarios wait no longer than 600 ms for an answer, which is not the time to make a database in.
  await gate.call({
    ...scope,
    tool: 'test_streaming_elicitation',
    arguments: {},
    toolset: 'default',
    signal: new AbortController().signal,
    progress: () => {},
    asker: { type: 'with_answer' },
  });
  const signer = createHomeSigner(home);
  const handler = createMcpHandler({ ...parts, signer, hosts: ['127.0.0.1', 'localhost'], origins: [] });
  const caller = {
    agent: OWNER.agent,
    endpoint: '/mcp',
    parts: {
      logger: silentLogger,
      // Progress is told every 5 s at most; the scenario for it takes no longer than a moment.
      clock: { now: systemClock.now, monotonic: () => systemClock.monotonic() * 100 },
      gate,
      toolset: 'default',
      server: { name: 'writ', version: '0.0.0', title: 'Writ' },
      instructions: 'For the conformance suite.',
      signer,
      scopeOf: async () => scope,
      resources: {
        list: async () => [{ id: EXEC, name: 'output of make' }],
        read: async (_scope: unknown, id: string) => (id === EXEC ? { text: 'all of it' } : undefined),
      },
    },
  };
  const server = createServer(MCP_SERVER_OPTIONS, (request, response) => handler.handle(request, response, caller));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    async close() {
      await handler.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await approvals.close();
      await database.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
