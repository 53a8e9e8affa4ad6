import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, expect, test } from 'vitest';
import { gatewayPlace, listed } from '../gateway/place.ts';
import { http, postForm, startUp } from '../helpers/up-process.ts';
import { type Place, runWrit, startMcp, WRIT } from '../helpers/writ-process.ts';
import { browse, startIssuer } from './issuer.ts';
import { startResource } from './resource.ts';

/** The whole way with real processes, a real issuer and no person: a command, a browser, and an agent that calls the tool. */

const issuer = await startIssuer();
const resource = await startResource(issuer.url);
const place = gatewayPlace(() => ({ guarded: { url: resource.url, oauth: { issuer: issuer.url } } }));
afterAll(async () => {
  await Promise.all([issuer.close(), resource.close()]);
  place.remove();
});

test('a person logs in with a browser, and agents call the tools; after the logout nobody does', { timeout: 120_000 }, async () => {
  const before = await runWrit(place, ['upstream', 'test', 'guarded']);
  expect(before.code).toBe(1);
  expect(before.stdout).toContain('writ upstream login guarded');

  const login = beginLogin(place);
  const address = await login.address;
  expect(new URL(address).origin).toBe(issuer.url);
  const asked = new URL(address).searchParams;
  expect(asked.get('code_challenge_method')).toBe('S256');
  expect(asked.get('resource')).toBe(resource.url);
  const back = await browse(address, 'http://127.0.0.1:', issuer.url);
  const answered = await fetch(back);
  expect(await answered.text()).toContain('Writ is logged in to guarded');
  expect(await login.ended).toBe(0);
  expect(login.output()).toContain('Logged in to guarded.');
  // What was used once is worth nothing any more.
  const again = await runWrit(place, ['upstream', 'login', 'guarded', '--answer', back.href]);
  expect(again.code).not.toBe(0);
  expect(again.stderr).toContain('no answer to a login');

  const mcp = await startMcp(place);
  await listed(mcp, 'guarded__echo');
  const result = await mcp.call('guarded__echo', { text: 'hello' });
  expect(result.text).toContain('heard hello');
  expect(resource.seen).toHaveLength(1);

  // Turned away: renewed, and said once more.
  resource.over.add(resource.seen[0] ?? '');
  const renewed = await mcp.call('guarded__echo', { text: 'again' });
  expect(renewed.text).toContain('heard again');
  expect(resource.seen[1]).not.toBe(resource.seen[0]);
  expect(issuer.grants).toEqual(['authorization_code', 'refresh_token']);

  const out = await runWrit(place, ['upstream', 'logout', 'guarded']);
  expect(out.stdout).toBe('Logged out of guarded.\n');
  resource.over.add(resource.seen[1] ?? '');
  const last = await mcp.call('guarded__echo', { text: 'still' });
  expect(last.isError).toBe(true);
  expect(last.text).toContain('writ upstream login guarded');
  await mcp.end();
});

test('the browser of another machine comes back to writ up, once', { timeout: 120_000 }, async () => {
  const own = gatewayPlace(() => ({ guarded: { url: resource.url, oauth: { issuer: issuer.url } } }));
  const up = await startUp(own);
  try {
    const base = up.url.replace('127.0.0.1', 'localhost');
    own.env['WRIT_OAUTH_REDIRECT_BASE_URL'] = base;
    const login = beginLogin(own);
    const address = await login.address;
    const callback = `${base}/api/mcp/oauth/callback`;
    expect(new URL(address).searchParams.get('redirect_uri')).toBe(callback);
    const back = await browse(address, callback);
    const strange = await fetch(`${callback}?code=x&state=made-up`);
    expect([strange.status, await strange.text()]).toEqual([400, expect.stringContaining('no answer to a login')]);
    const answered = await fetch(back);
    expect([answered.status, await answered.text()]).toEqual([200, expect.stringContaining('logged in to guarded')]);
    expect((await fetch(back)).status).toBe(400);
    expect(await login.ended).toBe(0);
    expect((await fetch(`${base}/api/mcp/oauth/client.json`)).status).toBe(404);
  } finally {
    await up.end();
    own.remove();
  }
});

test('the operator of writ up logs in over the API or on the page: the browser comes back by itself, or its address is brought', {
  timeout: 120_000,
}, async () => {
  const own = gatewayPlace(() => ({ guarded: { url: resource.url, oauth: { issuer: issuer.url } } }));
  const up = await startUp(own);
  const api = async (path: string, body?: object, token?: string): Promise<{ status: number; value: Record<string, string> }> => {
    const headers = { 'content-type': 'application/json', ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
    const answer = await fetch(`${up.url}/api/${path}`, {
      headers,
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
    return { status: answer.status, value: (await answer.json()) as Record<string, string> };
  };
  try {
    const { token = '' } = (await api('session', { key: up.link.slice(up.link.indexOf('#') + 1) })).value;
    const begin = async (): Promise<URL> => {
      const { authorization_url = '', redirect_uri = '' } = (await api('mcp/oauth/authorize/guarded', undefined, token)).value;
      expect(redirect_uri).toBe(`${up.url.replace('127.0.0.1', 'localhost')}/api/mcp/oauth/callback`);
      return browse(authorization_url, redirect_uri);
    };
    expect(await (await fetch(await begin())).text()).toContain('logged in to guarded');
    const callback_url = (await begin()).href;
    expect((await api('mcp/oauth/exchange/guarded', { callback_url: 'https://x.example/' }, token)).status).toBe(400);
    expect(await api('mcp/oauth/exchange/guarded', { callback_url }, token)).toMatchObject({
      status: 200,
      value: { logged_in: 'guarded' },
    });
    expect((await api('mcp/oauth/exchange/guarded', { callback_url }, token)).status).toBe(400);
    expect((await api('mcp/oauth/exchange/guarded', { callback_url })).status).toBe(401);
    // On the page of the same session: a link to follow, and a field for where it ended.
    const [id = '', secret = ''] = token.split('.');
    const address = `${up.url}/op/${id}/`;
    const headers = { cookie: `writ_operator=${secret}`, origin: up.url, 'sec-fetch-site': 'same-origin' };
    const csrf = /name="csrf" value="([^"]+)"/.exec((await http(address, { headers })).text)?.[1] ?? '';
    const act = (path: string, fields: Record<string, string>) => postForm(address + path, { csrf, name: 'guarded', ...fields }, headers);
    const offered = await act('server/login', {});
    const link = /<a href="([^"]+)" target="_blank"/.exec(offered.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect([offered.status, new URL(link).origin]).toEqual([200, issuer.url]);
    const ended = (await browse(link, `${up.url.replace('127.0.0.1', 'localhost')}/api/mcp/oauth/callback`)).href;
    const finished = await act('server/exchange', { callback_url: ended });
    expect([finished.status, finished.headers['location']]).toEqual([303, expect.stringMatching(/name=guarded&said=logged_in$/)]);
    expect((await act('server/exchange', { callback_url: ended })).text).toContain('no answer to a login');

    const { events } = JSON.parse((await runWrit(own, ['audit', 'list', '--type', 'upstream.login', '--json'])).stdout);
    expect(events).toHaveLength(3);
  } finally {
    await up.end();
    own.remove();
  }
});

function beginLogin(at: Place): { readonly address: Promise<string>; readonly ended: Promise<number>; output(): string } {
  const [command, ...args] = WRIT;
  const child = spawn(command, [...args, 'upstream', 'login', 'guarded'], { env: at.env, cwd: at.workspace });
  let output = '';
  const address = Promise.withResolvers<string>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      const found = /^ {2}(http\S+)\n/m.exec(output)?.[1];
      if (found !== undefined) address.resolve(found);
    });
  }
  const ended = once(child, 'close').then(([code]) => {
    address.reject(new Error(`it ended (${code}): ${output}`));
    return code as number;
  });
  address.promise.catch(() => {});
  return { address: address.promise, ended, output: () => output };
}
