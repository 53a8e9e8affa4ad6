import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../../src/kernel/clock.ts';
import { isObject } from '../../src/kernel/json-rpc/message.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import {
  authorizedFetch,
  beginLogin,
  createAttempts,
  createHttpCarrier,
  createLiveLogin,
  createLogins,
  createUpstreamPool,
  finishLogin,
  loginKeyOf,
  type Relay,
  readSettings,
  vetTools,
} from '../../src/upstreams/index.ts';

/**
 * What the official scenarios for clients run: our upstream client with its login, over a fetch that may reach the scenario's servers. A
 * browser is played by following the issuer's redirects.
 */

const url = process.argv.at(-1) ?? '';
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  client_id?: string;
  client_secret?: string;
  toolCalls?: { name: string; arguments: Record<string, unknown> }[];
};
const CALLBACK = 'http://localhost:3000/callback';
const MOST_LOGINS = 3;

const home = mkdtempSync(join(tmpdir(), 'writ-conformance-client-'));
const { client_id, client_secret } = context;
const oauth = {
  ...(client_id === undefined ? {} : { client_id }),
  ...(client_id === undefined || client_secret === undefined ? {} : { client_secret }),
};
const read = readSettings(
  'server',
  { source: 'operator', entry: { url, oauth } },
  { writ_home: home, user: { name: 'ann', home, shell: undefined } },
);
if (!read.ok) throw new Error(JSON.stringify(read.problems));
const { settings } = read;
const target = { key: loginKeyOf(settings, url), oauth };
const parts = { logins: createLogins(home), attempts: createAttempts(home, systemClock), clock: systemClock };
const signal = AbortSignal.timeout(25_000);

const login = createLiveLogin({ target, ...parts, logger: silentLogger, fetch, how: 'log in' });
const pool = createUpstreamPool({
  version: '1.0.0',
  clock: systemClock,
  logger: silentLogger,
  admit: async () => ({ ok: true }),
  open: async () =>
    createHttpCarrier({
      type: 'http',
      url,
      headers: {},
      max_bytes: settings.max_response_bytes,
      fetch: authorizedFetch(fetch, new URL(url).origin, login),
      close: async () => {},
    }),
  vet: (its, definitions, until) =>
    vetTools(its, definitions, {
      builtins: [],
      approvals: {
        judgeTools: async (_settings, tools) => tools.map(({ name }) => ({ name, judgement: { state: 'approved', sha256: '' } })),
      },
      logger: silentLogger,
      signal: until,
    }),
});
const view = pool.view([settings]);
const upstream = view.get('server');
if (upstream === undefined) throw new Error('there is no upstream');
/** The host that called, with a person who agrees to what its form shows. */
const relay: Relay = {
  ask: async (_method, { requestedSchema }) => ({ ok: true, result: { action: 'accept', content: defaultsOf(requestedSchema) } }),
  tell: () => {},
  progress: () => false,
};

let logins = 0;
await upstream.start();
while (upstream.status().state === 'needs_auth' && logins < MOST_LOGINS) {
  await logIn();
  await upstream.reconnect();
}
const { state, reason } = upstream.status();
if (state !== 'connected') throw new Error(`${state}: ${reason}`);
const calls = context.toolCalls ?? upstream.tools().map(({ name }) => ({ name, arguments: name === 'add_numbers' ? { a: 5, b: 3 } : {} }));
for (const { name, arguments: args } of calls) {
  const tool = upstream.tools().find((each) => each.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  for (;;) {
    try {
      await view.call(tool, args, { signal, scope: { relay } });
      break;
    } catch (thrown) {
      const wants = (thrown as { data?: { needs_auth?: unknown } }).data?.needs_auth;
      if (wants === undefined || logins >= MOST_LOGINS) throw thrown;
      await logIn();
    }
  }
}
await pool.close();
rmSync(home, { recursive: true, force: true });
process.exit(0);

async function logIn(): Promise<void> {
  logins += 1;
  const { authorization_url } = await beginLogin(
    target,
    {
      redirect_uri: CALLBACK,
      client_metadata_url: 'https://conformance-test.local/client-metadata.json',
      person: 'ann',
      fetch,
      signal,
    },
    parts,
  );
  let next = new URL(authorization_url);
  for (let hop = 0; hop < 12 && !next.href.startsWith(CALLBACK); hop += 1) {
    const response = await fetch(next, { redirect: 'manual' });
    next = new URL(response.headers.get('location') ?? '', next);
  }
  await finishLogin(next.searchParams, { person: 'ann', fetch: () => fetch, signal }, parts);
}

function defaultsOf(schema: unknown): Record<string, unknown> {
  const properties = isObject(schema) && isObject(schema['properties']) ? schema['properties'] : {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([name, each]) => (isObject(each) && 'default' in each ? [[name, each['default']]] : [])),
  );
}
