import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callTool, type HttpAnswer, http, makeToken, startUp, type UpProcess } from '../helpers/up-process.ts';
import { type Place, runWrit } from '../helpers/writ-process.ts';
import { fixture, gatewayPlace } from './place.ts';
import { openRegistry, PACKAGE } from './registry.ts';

/** `/api/mcp` of a real `writ up` with a real server. */

let place: Place;
let up: UpProcess;
let token: string;
let session: string;

const SECRET = 'q8R2vVx0very0secret0value';

beforeAll(async () => {
  place = gatewayPlace((at) => ({
    one: fixture(at, 'gateway-server.mjs', ['--era', 'older', '--talk'], {
      env: { API_TOKEN: SECRET, LANG: 'C' },
      env_secrets: ['API_TOKEN'],
    }),
    far: { url: `https://mcp.example/x?api_key=${SECRET}`, headers: { Authorization: `Bearer ${SECRET}` }, enabled: false },
    bad: { command: 'node', url: 'https://x.example' },
  }));
  await runWrit(place, ['workspace', 'add', 'main', place.workspace]);
  token = await makeToken(place, 'ci', ['-w', 'main']);
  up = await startUp(place);
  const key = up.link.slice(up.link.indexOf('#') + 1);
  const opened = await send('POST', '/api/session', { key }, {});
  expect(opened.status).toBe(201);
  session = JSON.parse(opened.text).token;
  expect((await send('POST', '/api/session', { key }, {})).status).toBe(401);
});
afterAll(async () => {
  await up.end();
  place.remove();
});

function send(method: string, path: string, body?: unknown, headers: Record<string, string> = bearer()): Promise<HttpAnswer> {
  const text = body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) };
  return http(`${up.url}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...text,
  });
}
const bearer = (secret = session): Record<string, string> => ({ authorization: `Bearer ${secret}` });
const servers = (method: string, path = '', body?: unknown): Promise<HttpAnswer> => send(method, `/api/mcp/servers${path}`, body);
const got = async (path: string): Promise<Record<string, unknown>> => JSON.parse((await servers('GET', path)).text);
const file = (): string => readFileSync(join(place.home, 'config.json'), 'utf8');
const audit = async (type: string): Promise<string> => (await runWrit(place, ['audit', 'list', '--type', type, '--json'])).stdout;

const ROUTES: readonly (readonly [string, string, unknown?])[] = [
  ['GET', '/api/mcp/servers'],
  ['POST', '/api/mcp/servers', { name: 'x', entry: { command: 'node' } }],
  ['GET', '/api/mcp/servers/one'],
  ['PATCH', '/api/mcp/servers/one', { enabled: false }],
  ['DELETE', '/api/mcp/servers/one'],
  ['GET', '/api/mcp/servers/one/tools'],
  ['PATCH', '/api/mcp/servers/one/tools', { disabled: ['runs'] }],
  ['POST', '/api/mcp/servers/one/install', {}],
  ['POST', '/api/mcp/servers/one/reconnect'],
  ['GET', '/api/mcp/servers/one/logs'],
  ['POST', '/api/mcp/servers/one/approve', { sha256: '0'.repeat(64) }],
  ['POST', '/api/mcp/servers/one/deny', {}],
  ['POST', '/api/mcp/servers/one/revoke', {}],
  ['GET', '/api/mcp/oauth/authorize/far'],
  ['POST', '/api/mcp/oauth/exchange/far', { callback_url: 'http://x/?state=y' }],
  ['DELETE', '/api/session'],
  ['GET', '/api/anything'],
];

describe('nobody else', () => {
  test("an agent's token, no token, a made-up one and a cookie open nothing, and are in the record", async () => {
    for (const [method, path, body] of ROUTES) {
      expect([path, (await send(method, path, body, bearer(token))).status]).toEqual([path, 403]);
      expect([path, (await send(method, path, body, {})).status]).toEqual([path, 401]);
    }
    const [id = '', secret = ''] = session.split('.');
    for (const wrong of [`${id}.x`, `x.${secret}`, id, secret, `${session}x`]) {
      expect((await send('GET', '/api/mcp/servers', undefined, bearer(wrong))).status).toBe(401);
    }
    expect((await send('GET', '/api/mcp/servers', undefined, { cookie: `writ_operator=${secret}` })).status).toBe(401);
    expect((await send('POST', '/api/session', { key: token }, bearer(token))).status).toBe(401);
    expect(await audit('http.refused')).toContain('POST /api/mcp/servers/one/approve');
    expect(file()).toContain('"one"');
  });

  test('a page of another site, a foreign name', async () => {
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', origin: up.url },
      { host: 'evil.example' },
    ]) {
      const answer = await send('GET', '/api/mcp/servers', undefined, { ...bearer(), ...(headers as unknown as Record<string, string>) });
      expect(answer.status).toBe(403);
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(
      (await send('GET', '/api/mcp/servers', undefined, { ...bearer(), origin: up.url, 'sec-fetch-site': 'same-origin' })).status,
    ).toBe(200);
  });
});

test('the list says how each is and holds no secret', async () => {
  const answer = await servers('GET');
  expect(answer.text).not.toContain(SECRET);
  expect(JSON.parse(answer.text).servers).toMatchObject([
    {
      name: 'one',
      source: 'operator',
      state: 'starting',
      enabled: true,
      settings: { transport: { env: { API_TOKEN: '[redacted]', LANG: 'C' } } },
    },
    { name: 'far', state: 'disabled', enabled: false, settings: { transport: { headers: { Authorization: '[redacted]' } } } },
    { name: 'bad', state: 'invalid', problems: [{ message: expect.stringContaining('both') }] },
  ]);
});

test('what is wrong is refused before anything is written', async () => {
  const before = file();
  const wrong: readonly (readonly [string, string, unknown, number, string])[] = [
    ['POST', '', '{', 400, 'no valid JSON'],
    ['POST', '', '[]', 400, 'body is not as it must be'],
    ['POST', '', { name: 'x' }, 400, 'entry'],
    ['POST', '', { name: 'x', entry: { command: 'node' }, more: 1 }, 400, 'more'],
    ['POST', '', { name: 'x', entry: { command: 'node', args: '-y x' } }, 422, 'must be a list of texts'],
    ['POST', '', { name: 'x', entry: { command: 'node', args: ['a', 1] } }, 422, 'must be a text'],
    ['POST', '', { name: 'x', entry: { command: 'node', timeout_seconds: 0 } }, 422, 'timeout_seconds'],
    ['POST', '', { name: 'x', entry: { command: 'node', url: 'https://x.example' } }, 422, 'both'],
    ['POST', '', { name: 'x', entry: {} }, 422, 'x'],
    ['POST', '', { name: 'x__y', entry: { command: 'node' } }, 422, 'no name for a server'],
    ['POST', '', { name: '__proto__', entry: { command: 'node' } }, 422, 'no name'],
    ['POST', '', { name: 'x', entry: { command: 'node', env: { A_TOKEN: '[redacted]' } } }, 422, 'in the place of a secret'],
    ['POST', '', { name: 'one', entry: { command: 'node' } }, 409, 'already'],
    [
      'POST',
      '',
      { name: 'x', entry: { command: 'node', args: ['-e', 'process.exit(3)'], env: { MY_TOKEN: 'abc' } } },
      502,
      'could not be connected',
    ],
    ['PATCH', '/one', {}, 400, 'enabled'],
    ['PATCH', '/one', { enabled: 'no' }, 400, 'enabled'],
    ['PATCH', '/one', { settings: { args: 'x' } }, 422, 'list of texts'],
    ['PATCH', '/one', { settings: { command: null } }, 422, 'one'],
    ['PATCH', '/nobody', { enabled: true }, 404, 'no MCP server'],
    ['PATCH', '/one/tools', { disabled: 'runs' }, 400, 'disabled'],
    ['PATCH', '/one/tools', { disabled: [''] }, 400, 'disabled'],
    ['DELETE', '/nobody', undefined, 404, 'no MCP server'],
    // The operator's of the same name is not the one that is meant.
    ['DELETE', '/one?project=/somewhere', undefined, 400, 'only people edit'],
    ['PATCH', '/one?project=/somewhere', { enabled: false }, 400, 'only people edit'],
    ['PATCH', '/one/tools?project=/somewhere', { disabled: ['runs'] }, 400, 'only people edit'],
    ['POST', '/nobody/reconnect', undefined, 404, 'has an MCP server'],
    ['POST', '/one/approve', { sha256: 'x' }, 400, 'sha256'],
    ['GET', '/one/logs?lines=501', undefined, 400, 'lines'],
    ['GET', '/one?project=/nowhere', undefined, 404, 'no MCP server'],
    ['POST', '', { name: 'x', entry: { command: 'x'.repeat(300_000) } }, 413, 'bytes'],
    ['POST', '', `{"name":"x","entry":{"command":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`, 400, 'nested deeper'],
    ['PUT', '/one', {}, 404, 'Nothing is here'],
  ];
  for (const [method, path, body, status, says] of wrong) {
    const answer = await servers(method, path, body);
    expect([method, path, body, answer.status, answer.text]).toEqual([method, path, body, status, expect.stringContaining(says)]);
    expect(JSON.parse(answer.text)).toMatchObject({ status, code: expect.any(String), detail: expect.any(String) });
  }
  expect((await send('POST', '/api/mcp/servers', '{}', { ...bearer(), 'content-type': 'text/plain' })).status).toBe(415);
  expect(file()).toBe(before);
  expect((await runWrit(place, ['secret', 'list'])).stdout).toContain('None');
});

test('a server is added, changed, has its tools switched, is connected anew and goes again, all of it live and in the record', async () => {
  const entry = { ...fixture(place, 'gateway-server.mjs', ['--era', 'older', '--talk']), env: { HIS_TOKEN: 'another-secret-1' } };
  const added = await servers('POST', '', { name: 'two', entry });
  expect([added.status, added.text]).toEqual([201, expect.stringContaining('"secrets_stored":["two.HIS_TOKEN"]')]);
  expect(file() + added.text).not.toContain('another-secret-1');
  expect(file()).toContain(`\${secret:two.HIS_TOKEN}`);

  const calls = async (): Promise<string> => (await callTool(`${up.url}/mcp`, token, 'two__runs', {})).tool();
  await expect.poll(calls, { timeout: 30_000 }).toContain('"runs":0');
  expect(await got('/two')).toMatchObject({ state: 'connected', tools: { disabled: 0 } });
  expect((await servers('PATCH', '/two/tools', { disabled: ['runs'] })).status).toBe(200);
  await expect.poll(calls, { timeout: 30_000 }).toContain('disabled');
  const tools = (await got('/two/tools'))['tools'] as { name: string }[];
  expect(tools.find(({ name }) => name === 'runs')).toMatchObject({
    exposed: 'two__runs',
    state: 'disabled',
    off: true,
    pin: { state: 'seen' },
  });
  expect((await servers('PATCH', '/two/tools', { disabled: [] })).status).toBe(200);
  await expect.poll(calls, { timeout: 30_000 }).toContain('"runs":0');

  expect((await servers('PATCH', '/two', { settings: { timeout_seconds: 7, prefix: 'second' } })).text).toContain('"timeout_ms":7000');
  await expect.poll(async () => (await got('/two'))['state'], { timeout: 30_000 }).toBe('connected');
  const again = JSON.parse((await servers('POST', '/two/reconnect')).text);
  expect(again).toMatchObject({ name: 'two', state: 'connected' });
  expect((await got('/two/logs'))['lines']).toContainEqual(expect.stringContaining('talks since'));

  expect((await servers('PATCH', '/two', { enabled: false })).status).toBe(200);
  await expect.poll(async () => (await got('/two'))['state'], { timeout: 30_000 }).toBe('disabled');
  expect(JSON.parse((await servers('DELETE', '/two')).text)).toMatchObject({ forgotten: true, secrets_kept: ['two.HIS_TOKEN'] });
  expect((await servers('GET', '/two')).status).toBe(404);
  expect(JSON.parse(await audit('upstream.configured')).events).toHaveLength(6);
  expect(await audit('upstream.reconnected')).toContain('"server":"two"');
});

test('tools that need a yes get it by the digest that was shown, and not by another', async () => {
  const entry = fixture(place, 'gateway-server.mjs', ['--era', 'older'], { require_approval: true });
  expect((await servers('POST', '', { name: 'careful', entry })).status).toBe(201);
  type Tool = { name: string; state: string; asked: { sha256: string; difference: string[] } };
  const tool = async (): Promise<Tool | undefined> =>
    ((await got('/careful/tools'))['tools'] as Tool[]).find(({ name }) => name === 'runs');
  const asked = (await tool())?.asked;
  expect(asked?.difference.join('\n')).toMatch(/inputSchema[\s\S]*bytes, SHA-256/);
  const approve = (sha256: string | undefined) => servers('POST', '/careful/approve', { tools: [{ name: 'runs', sha256 }] });
  expect((await approve('0'.repeat(64))).status).toBe(409);
  expect((await approve(asked?.sha256)).status).toBe(200);
  await expect.poll(async () => (await tool())?.state, { timeout: 30_000 }).toBe('enabled');
  expect((await servers('POST', '/careful/deny', { tools: ['runs'] })).status).toBe(200);
  await expect.poll(async () => (await tool())?.state, { timeout: 30_000 }).toBe('disabled');
  // A no to the server ends the one that runs.
  expect((await servers('POST', '/careful/deny')).status).toBe(200);
  expect(await got('/careful')).toMatchObject({ denied: true, state: 'needs_approval' });
  expect((await servers('POST', '/careful/revoke', {})).text).toBe('{"forgotten":true}');
});

test('a server that is written with npx waits until its package is installed', async () => {
  const registry = await openRegistry();
  registry.publish('1.0.0');
  try {
    const entry = { command: 'npx', args: ['-y', `--registry=${registry.url}`, PACKAGE, '--era', 'older'], network: 'none' };
    const added = await servers('POST', '', { name: 'kit', entry, connect: false });
    expect([added.status, JSON.parse(added.text)]).toMatchObject([201, { state: 'needs_install', package: { state: 'missing' } }]);
    expect(registry.asked()).toBe(0);
    expect((await servers('POST', '/kit/install', { update: 'yes' })).status).toBe(400);
    const installed = JSON.parse((await servers('POST', '/kit/install')).text);
    expect(installed).toMatchObject({
      installed: true,
      state: 'connected',
      package: { state: 'installed', name: PACKAGE, version: '1.0.0' },
    });
    expect(JSON.parse((await servers('POST', '/kit/install', {})).text)).toMatchObject({ installed: false });
    // What was installed for it goes with it.
    expect((await servers('DELETE', '/kit')).status).toBe(200);
  } finally {
    await registry.close();
  }
});

test('a broken file is said, and the last good one holds; a session that was given up opens nothing', async () => {
  const good = file();
  writeFileSync(join(place.home, 'config.json'), '{ "mcp_servers": {');
  const listed = await got('');
  expect(listed['problem']).toContain('the last good one holds');
  expect(listed['servers']).toHaveLength(4);
  expect((await servers('PATCH', '/one', { enabled: false })).status).toBe(409);
  writeFileSync(join(place.home, 'config.json'), good);
  expect((await send('DELETE', '/api/session')).status).toBe(204);
  expect((await servers('GET')).status).toBe(401);
});
