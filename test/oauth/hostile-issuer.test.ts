import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, expect, test } from 'vitest';
import { CALLBACK, makePerson, type Person, remote } from './person.ts';

/** An issuer that means harm, in as few words as it takes. */
interface Says {
  readonly authorize?: string;
  /** Where what is posted for a token is sent on to. */
  readonly moved?: string;
  readonly access_token?: string;
}

let says: Says = {};
const posted: string[] = [];
const server = createServer((request, response) => {
  const [path = ''] = (request.url ?? '').split('?');
  const send = (status: number, body: object, headers: Record<string, string> = {}): void =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  if (path === '/mcp')
    return send(401, {}, { 'www-authenticate': `Bearer resource_metadata="${at}/.well-known/oauth-protected-resource/mcp"` });
  if (path.startsWith('/.well-known/oauth-protected-resource')) return send(200, { resource: `${at}/mcp`, authorization_servers: [at] });
  if (path.startsWith('/.well-known/'))
    return send(200, {
      issuer: at,
      authorization_endpoint: says.authorize ?? `${at}/authorize`,
      token_endpoint: `${at}/token`,
      registration_endpoint: `${at}/register`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
    });
  if (path === '/register') return send(201, { client_id: 'writ', redirect_uris: [CALLBACK] });
  posted.push(path);
  if (path === '/token' && says.moved !== undefined) return send(307, {}, { location: says.moved });
  return send(200, { access_token: says.access_token ?? 'good', token_type: 'Bearer' });
});
await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());

const people: Person[] = [];
afterEach(() => {
  posted.length = 0;
  for (const one of people.splice(0)) one.remove();
});

async function logIn(more: Says): Promise<unknown> {
  says = more;
  const ann = makePerson();
  people.push(ann);
  const { state } = await ann.begin(remote('guarded', `${at}/mcp`));
  return ann.finish(new URLSearchParams({ code: 'c', state }));
}

test('the way is open for one that means none', async () => {
  await logIn({});
  expect(posted).toEqual(['/token']);
});

test.each(['file:///etc/passwd', 'vscode://run/something', 'javascript:alert(1)'])('nobody is sent to %s', async (authorize) => {
  await expect(logIn({ authorize })).rejects.toMatchObject({ code: 'upstream_error' });
  expect(posted).toEqual([]);
});

test('what is posted for a token goes nowhere else', async () => {
  await expect(logIn({ moved: `${at}/elsewhere` })).rejects.toMatchObject({ code: 'upstream_error' });
  expect(posted).toEqual(['/token']);
});

test.each([
  ['empty', ''],
  ['with a line break', 'a\r\nx-evil: 1'],
  ['too long', 'a'.repeat(17 * 1024)],
])('a token that is %s is none, and is not shown', async (_what, access_token) => {
  const failed = await logIn({ access_token }).then(
    () => undefined,
    (thrown: Error) => thrown,
  );
  expect(failed).toMatchObject({ code: 'upstream_error' });
  expect(`${failed?.message}`).not.toContain('x-evil');
});
