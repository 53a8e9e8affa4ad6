import { expect, test } from 'vitest';
import { type Expanded, expand } from './expand.ts';
import { readSettings } from './read-settings.ts';

const env = { API_KEY: 'key-123456', REGION: 'eu', EMPTY: '', HOME: '/home/dev' };
const places = { writ_home: '/nowhere/.writ', user: { name: 'a', home: undefined, shell: undefined } };
const stored: Readonly<Record<string, string>> = { GITHUB: 'ghp-stored', BROKEN: 'a\nb' };

async function filled(entry: Record<string, unknown>): Promise<Expanded> {
  const read = readSettings('x', { source: 'operator', entry }, places);
  if (!read.ok) throw new Error(read.problems.map(({ message }) => message).join('\n'));
  return expand(read.settings, { env, secret: async (name) => (Object.hasOwn(stored, name) ? stored[name] : undefined) });
}

test('declared variables, defaults and stored secrets are filled in, once', async () => {
  const answer = await filled({
    command: 'x',
    args: [`--home=\${HOME}`],
    env: { A: `\${API_KEY}-\${API_KEY}`, B: `\${NONE:-a:-b}`, C: `\${EMPTY:-d}`, D_TOKEN: `\${secret:GITHUB}`, E: `\${GIVEN:-$\{HOME}` },
    env_secrets: ['API_KEY', 'EMPTY'],
  });
  expect(answer).toMatchObject({
    ok: true,
    transport: { args: ['--home=/home/dev'], env: { A: 'key-123456-key-123456', B: 'a:-b', C: 'd', D_TOKEN: 'ghp-stored' } },
  });
  expect(answer.ok && answer.secrets).toEqual(['key-123456', 'ghp-stored']);
});

test('what is not declared stays as it is in the environment, and is never looked up', async () => {
  const answer = await filled({ command: 'x', env: { OTHER: `\${REGION}`, I: `\${input:token}` } });
  expect(answer).toMatchObject({ ok: true, transport: { env: { OTHER: `\${REGION}`, I: `\${input:token}` } } });
  expect(answer.ok && answer.warnings.map(({ message }) => message)).toEqual([
    'mcp_servers.x.env.OTHER refers to the variable REGION, which is not declared; the text stays as it is',
    `mcp_servers.x.env.I refers to \${input:token}, which means nothing here; the text stays as it is`,
  ]);
  expect(await filled({ command: 'x', env: { A: `\${REGION:-us}` } })).toMatchObject({ transport: { env: { A: 'us' } } });
});

test.each([
  [{ command: 'x', env: { A: `\${MISSING}` }, env_secrets: ['MISSING'] }, 'env.A refers to the variable MISSING, which is not set'],
  [{ command: 'x', env: { A: `\${EMPTY}` }, env_secrets: ['EMPTY'] }, 'env.A refers to the variable EMPTY, which is not set'],
  [{ command: 'x', env: { A_TOKEN: `\${secret:NONE}` } }, 'env.A_TOKEN refers to the secret "NONE", which is not stored'],
  [{ command: 'x', env: { A: `\${secret:toString}` } }, 'the secret "toString"'],
  [{ url: 'https://a.example', headers: { A: `\${secret:BROKEN}` } }, 'headers.A holds a line break once it is filled in'],
  [{ url: 'https://a.example', headers: { A: `\${input:x}` } }, 'headers.A refers to'],
  [{ url: `\${REGION:-ftp}://a.example` }, 'url is no http(s) address once it is filled in'],
])('%j is a problem that names the reference and no value', async (entry, message) => {
  const answer = await filled(entry);
  const said = answer.ok ? '' : answer.problems.map((one) => `${one.message} ${one.fix}`).join('\n');
  expect(said).toContain(message);
  expect(said).not.toMatch(/key-123456|ghp-stored|a\nb/);
});

test('no secret is looked up for a project, whatever its settings say', async () => {
  const read = readSettings('x', { source: 'operator', entry: { command: 'x', env: { A: `\${secret:GITHUB}` } } }, places);
  if (!read.ok) throw new Error('not read');
  const asked: string[] = [];
  const secret = async (name: string): Promise<string | undefined> => {
    asked.push(name);
    return stored[name];
  };
  expect(await expand({ ...read.settings, source: 'project' }, { env, secret })).toMatchObject({ ok: false });
  expect(asked).toEqual([]);
  expect(await expand(read.settings, { env, secret })).toMatchObject({ ok: true });
});

test('addresses are filled in, too', async () => {
  const answer = await filled({ url: `\${BASE:-https://api.example.com}/mcp?k=\${API_KEY}`, env_secrets: ['BASE', 'API_KEY'] });
  expect(answer).toMatchObject({ ok: true, transport: { url: 'https://api.example.com/mcp?k=key-123456' } });
});

test('what stands in clear where secrets stand is told too, without the word in front of it', async () => {
  const given = { MY_TOKEN: 'in-clear-1', DATABASE: 'pg://in-clear-2', DB_PASS: 'in-clear-3', AWS_REGION: 'us-east-1', MODE: 'fast' };
  const local = await filled({ command: 'x', env: given, env_secrets: ['DATABASE', 'MY_TOKEN', 'DB_PASS', 'AWS_REGION'] });
  expect(local.ok && local.secrets).toEqual(['in-clear-1', 'pg://in-clear-2', 'in-clear-3']);
  const headers = { Authorization: 'Bearer in-clear-3', 'X-Api-Key': 'in-clear-4', Accept: 'x', Cookie: 'a=in-clear-6; b=in-clear-7' };
  const remote = await filled({ url: 'https://a.example', headers, oauth: { client_id: 'c', client_secret: 'in-clear-5' } });
  expect(remote.ok && remote.secrets).toEqual(['in-clear-3', 'in-clear-4', 'in-clear-6', 'in-clear-7', 'in-clear-5']);
});
