/**
 * What an aggregated call goes through over HTTP before and after the tool itself: bearer, transport, whose call it is and where, gate with policy
 * and redaction, audit. All of it is real; only the tool does nothing. Argument: a folder for the Writ home and a Workspace.
 */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createGate } from '../src/gate/index.ts';
import { createBearers, type McpEndpoint } from '../src/http/index.ts';
import { type AgentToken, createHomeSigner, createIdentity } from '../src/identity/index.ts';
import { systemClock as clock } from '../src/kernel/clock.ts';
import { defaultConfig, readProcess } from '../src/kernel/config/index.ts';
import { silentLogger as logger } from '../src/kernel/logger.ts';
import { createRedactor } from '../src/kernel/redaction/index.ts';
import { agentScope } from '../src/main/parts/agent-scope.ts';
import { openAudit } from '../src/main/parts/audit.ts';
import { openDatabase } from '../src/main/parts/database.ts';
import { policyOf } from '../src/main/parts/policy.ts';
import { createRunningCalls } from '../src/main/parts/running-calls.ts';
import { createMcpHandler, MCP_SERVER_OPTIONS, type ServerParts } from '../src/mcp/index.ts';
import type { Tool } from '../src/tools/tool.ts';

const [folder = ''] = process.argv.slice(2);
const [home, workspace] = [join(folder, 'home'), join(folder, 'workspace')];
mkdirSync(workspace);
const facts = readProcess();
const config = defaultConfig(facts);
const redactor = createRedactor({ known_values: [] });
const database = openDatabase(home, new URL('../src/main/writer-thread.ts', import.meta.url));
const log = openAudit({ home, database, clock, logger, config: config.audit });
const identity = createIdentity({ store: database.store, reader: database.reader, clock, logger, facts, home });
const policy = { rules: await policyOf(config), nonInteractive: config.dangerous.non_interactive };

const schema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const echo: Tool = {
  name: 'echo',
  description: 'Gives back what it gets.',
  inputSchema: schema,
  outputSchema: schema,
  annotations: { title: 'Echo', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  parse: (raw) => ({ ok: true, input: raw }),
  assess: () => ({ effects: ['safe'], findings: [], commands: [], git_config_write: false }),
  run: async (input) => {
    const { text } = input as { readonly text: string };
    return { structured: { text }, text, evidence: { bytes: text.length } };
  },
};
const inner = createGate({
  tools: [echo],
  allows: () => true,
  policyOf: () => policy,
  audit: async () => log,
  redactor,
  clock,
  logger,
});
const gate = createRunningCalls(clock).watch(inner, redactor);
const served: Omit<ServerParts, 'scopeOf'> = {
  gate,
  toolset: 'default',
  server: { name: 'bench', version: '0' },
  instructions: '',
  clock,
  logger,
};
await identity.workspaces.add('bench', workspace);
const { token, secret } = await identity.tokens.create({ name: 'bench', workspaces: ['bench'], toolset: 'default' });
const bearers = createBearers({
  tokens: identity.tokens,
  serve: (found: AgentToken) => ({
    ...served,
    scopeOf: agentScope({ serving: { enter: async () => {} }, identity, token: found, only: undefined, facts, home }),
  }),
});
const mcp = createMcpHandler({ logger, clock, signer: createHomeSigner(home), hosts: ['127.0.0.1'], origins: [] });
const endpoint: McpEndpoint = {};

const server = createServer(MCP_SERVER_OPTIONS, (request, response) => {
  bearers.authenticate(request.headers.authorization, endpoint).then((bearer) => {
    if (bearer.type === 'caller') mcp.handle(request, response, bearer.caller);
    else response.writeHead(401).end();
  });
});
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, bearer: secret, agent: token.agent }));
});
process.stdin.resume().on('end', async () => {
  await mcp.close();
  bearers.close();
  await log.close();
  process.exit();
});
