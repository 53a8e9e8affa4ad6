import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, afterEach, expect, test } from 'vitest';
import { browse, startIssuer } from './issuer.ts';
import { CALLBACK, makePerson, type Person, remote } from './person.ts';
import { startResource } from './resource.ts';

const issuer = await startIssuer();
const resource = await startResource(issuer.url);
const settings = remote('guarded', resource.url, { issuer: issuer.url });
const before = { ...resource.says };
const people: Person[] = [];
const person = (): Person => {
  const made = makePerson();
  people.push(made);
  return made;
};

afterEach(() => {
  Object.assign(resource.says, before);
  resource.over.clear();
  resource.seen.length = 0;
  issuer.grants.length = 0;
  for (const each of people.splice(0)) each.remove();
});
afterAll(async () => void (await Promise.all([issuer.close(), resource.close()])));

test('two processes whose token ended at once renew it once, and both go on', async () => {
  const ann = person();
  await ann.logIn(settings);
  await ann.call(settings);
  const children = [1, 2].map(() => startCaller(ann.home));
  try {
    for (const child of children) expect(await child.call('warm')).toBe('heard warm');
    for (let round = 0; round < 3; round += 1) {
      for (const token of resource.seen) resource.over.add(token);
      const said = await Promise.all(children.flatMap((child) => [child.call('one'), child.call('two')]));
      expect(said).toEqual(['heard one', 'heard two', 'heard one', 'heard two']);
    }
  } finally {
    for (const child of children) child.end();
  }
  expect(issuer.grants).toEqual(['authorization_code', 'refresh_token', 'refresh_token', 'refresh_token']);
});

test('many requests of one process renew once', async () => {
  const ann = person();
  await ann.logIn(settings);
  await ann.call(settings);
  for (const token of resource.seen) resource.over.add(token);
  const said = await Promise.all(Array.from({ length: 20 }, () => ann.call(settings)));
  expect(new Set(said)).toEqual(new Set(['heard hello']));
  expect(issuer.grants).toEqual(['authorization_code', 'refresh_token']);
});

test('a token is renewed before it ends', async () => {
  const ann = person();
  await ann.logIn(settings);
  ann.time.ahead_ms = 280_000;
  expect(await ann.call(settings)).toBe('heard hello');
  expect(issuer.grants).toEqual(['authorization_code', 'refresh_token']);
});

test('a login that was revoked is over and says so; the next one mends it', async () => {
  const ann = person();
  await ann.logIn(settings);
  await ann.call(settings);
  const other = makePerson();
  people.push(other);
  // The same grant, ended from elsewhere: its refresh token goes with it.
  const copy = readLogin(ann.home);
  await ann.logins.forget(settings);
  copy.restore();
  for (const token of resource.seen) resource.over.add(token);
  await expect(ann.call(settings)).rejects.toMatchObject({
    code: 'upstream_unavailable',
    message: expect.stringMatching(/wants a login \(its issuer says invalid_grant.*log in/),
    data: { needs_auth: true },
  });
  await ann.logIn(settings);
  expect(await ann.call(settings)).toBe('heard hello');
});

test('without a login the first request says that one is needed', async () => {
  await expect(person().call(settings)).rejects.toMatchObject({ data: { needs_auth: true } });
  expect(resource.seen).toEqual([]);
});

test('more than was granted: the call fails with what is wanted, and the next login asks for both', async () => {
  const ann = person();
  await ann.logIn(settings);
  expect(await ann.call(settings)).toBe('heard hello');
  resource.says.needed = 'mcp:write';
  await expect(ann.call(settings)).rejects.toMatchObject({
    code: 'upstream_error',
    message: expect.stringContaining('mcp:write'),
    data: { needs_auth: 'scope' },
  });
  const { authorization_url } = await ann.begin(settings);
  const asked = new URL(authorization_url).searchParams.get('scope')?.split(' ');
  expect(asked).toEqual(expect.arrayContaining(['mcp:tools', 'mcp:write']));
  await ann.finish((await browse(authorization_url, CALLBACK)).searchParams);
  expect(await ann.call(settings)).toBe('heard hello');
});

test('a server that names another issuer than its entry gets nobody to log in', async () => {
  const other = remote('guarded', resource.url, { issuer: 'http://127.0.0.1:9' });
  resource.says.issuer = issuer.url;
  await expect(person().begin(remote('guarded', resource.url, { issuer: `${issuer.url}/tenant` }))).rejects.toThrow(/"oauth.issuer"/);
  await expect(person().begin(other)).rejects.toThrow(/127\.0\.0\.1/);
});

test('an issuer whose document names another one is not believed', async () => {
  resource.says.issuer = issuer.url.replace('127.0.0.1', 'localhost');
  await expect(person().begin(remote('guarded', resource.url, { issuer: resource.says.issuer }))).rejects.toThrow(/issuer/i);
});

test('an answer that comes from another issuer is not taken, and is used up', async () => {
  const ann = person();
  const { authorization_url } = await ann.begin(settings);
  const { searchParams } = await browse(authorization_url, CALLBACK);
  expect(searchParams.get('iss')).toBe(issuer.url);
  const changed = new URLSearchParams(searchParams);
  changed.set('iss', 'https://evil.example');
  await expect(ann.finish(changed)).rejects.toThrow(/failed/);
  await expect(ann.finish(searchParams)).rejects.toThrow(/no answer to a login/);
  expect(issuer.grants).toEqual([]);
});

test('a server that says it is another one gets no token', async () => {
  resource.says.resource = 'https://bank.example/mcp';
  await expect(person().begin(settings)).rejects.toThrow(/does not match/);
});

test('nobody is led into the private network', async () => {
  await expect(person().begin(remote('guarded', resource.url))).rejects.toThrow(/not connected to|loopback/);
  expect(issuer.grants).toEqual([]);
});

test('a state holds once, for its person, and for ten minutes', async () => {
  const ann = person();
  const asked = async (): Promise<URLSearchParams> => (await browse((await ann.begin(settings)).authorization_url, CALLBACK)).searchParams;
  const first = await asked();
  await expect(ann.finish(new URLSearchParams({ code: 'x', state: 'made-up' }))).rejects.toThrow(/no answer to a login/);
  await expect(ann.finish(first, 'bob')).rejects.toThrow(/no answer to a login/);
  const second = await asked();
  const both = await Promise.allSettled([ann.finish(second), ann.finish(second)]);
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const third = await asked();
  ann.time.ahead_ms = 10 * 60_000 + 1;
  await expect(ann.finish(third)).rejects.toThrow(/no answer to a login/);
  expect(issuer.grants).toEqual(['authorization_code']);
});

test('a damaged login is gone and says so; the other one stays', async () => {
  const ann = person();
  const second = remote('second', resource.url, { issuer: issuer.url });
  await ann.logIn(settings);
  const [file = ''] = loginFiles(ann.home);
  await ann.logIn(second);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const bytes = readFileSync(file);
  expect(bytes.toString('latin1')).not.toContain('access_token');
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
  writeFileSync(file, bytes);
  await expect(ann.call(settings)).rejects.toMatchObject({ data: { needs_auth: true } });
  expect(ann.warnings).toEqual([expect.stringContaining('the login to "guarded" can\'t be read')]);
  expect(await ann.call(second)).toBe('heard hello');
  await ann.logIn(settings);
  expect(await ann.call(settings)).toBe('heard hello');
});

test('a client that was registered beforehand logs in with its secret', async () => {
  const ann = person();
  const registered = remote('guarded', resource.url, { issuer: issuer.url, client_id: 'registered', client_secret: 'a-secret' });
  await ann.logIn(registered);
  for (const token of resource.seen) resource.over.add(token);
  expect(await ann.call(registered)).toBe('heard hello');
  expect(issuer.grants).toEqual(['authorization_code']);
});

test('an issuer that only speaks OpenID Connect, with a client that it was told of', async () => {
  const require = createRequire(new URL('../peers/package.json', import.meta.url));
  const { OAuth2Server } = (await import(pathToFileURL(require.resolve('oauth2-mock-server')).href)) as {
    OAuth2Server: new () => {
      readonly issuer: { url: string; readonly keys: { generate(alg: string): Promise<unknown> } };
      readonly service: { on(event: string, change: (token: { payload: Record<string, unknown> }) => void): void };
      start(port: number, host: string): Promise<void>;
      stop(): Promise<void>;
      address(): { readonly port: number };
    };
  };
  const bare = new OAuth2Server();
  await bare.issuer.keys.generate('RS256');
  await bare.start(0, '127.0.0.1');
  try {
    bare.issuer.url = `http://127.0.0.1:${bare.address().port}`;
    bare.service.on('beforeTokenSigning', ({ payload }) => Object.assign(payload, { aud: resource.url, scope: 'mcp:tools' }));
    resource.says.issuer = bare.issuer.url;
    const ann = person();
    const told = remote('guarded', resource.url, { issuer: bare.issuer.url, client_id: 'told' });
    await ann.logIn(told);
    expect(await ann.call(told)).toBe('heard hello');
  } finally {
    await bare.stop();
  }
});

function loginFiles(home: string): readonly string[] {
  const folder = join(home, 'logins');
  return readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .map((name) => join(folder, name));
}

function readLogin(home: string): { restore(): void } {
  const [file = ''] = loginFiles(home);
  const bytes = readFileSync(file);
  return { restore: () => writeFileSync(file, bytes, { mode: 0o600 }) };
}

function startCaller(home: string): { call(text: string): Promise<string>; end(): void } {
  const file = fileURLToPath(new URL('./caller.ts', import.meta.url));
  const child = spawn(process.execPath, [file, home, resource.url, issuer.url], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async call(text) {
      child.stdin.write(`${text}\n`);
      return String((await lines.next()).value);
    },
    end: () => child.stdin.end(),
  };
}
