import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { serverEntrySchema } from '../../kernel/config/server-entry.ts';
import { createRedactor } from '../../kernel/redaction/index.ts';
import { readSettings, type SettingsRead } from './read-settings.ts';

const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-settings-')));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const home = join(base, 'home');
const writ_home = join(home, '.writ');
const project = join(home, 'app');
for (const folder of [writ_home, join(project, 'data'), join(home, 'other')]) mkdirSync(folder, { recursive: true });
symlinkSync(join(home, 'other'), join(project, 'out'));
const user = { name: 'dev', home, shell: undefined };

const operator = (entry: Record<string, unknown>, name = 'x'): SettingsRead =>
  readSettings(name, { source: 'operator', entry }, { writ_home, user });
const ofProject = (entry: Record<string, unknown>): SettingsRead =>
  readSettings('x', { source: 'project', entry }, { writ_home, user, project });

const problemsOf = (read: SettingsRead): readonly string[] => (read.ok ? [] : read.problems.map(({ message }) => message));
const warningsOf = (read: SettingsRead): readonly string[] => read.warnings.map(({ message }) => message);
function settingsOf(read: SettingsRead) {
  if (!read.ok) throw new Error(problemsOf(read).join('\n'));
  return read.settings;
}

describe('an entry of a Claude Code file', () => {
  test('of a program gets the defaults', () => {
    const read = operator({ type: 'stdio', command: 'node', args: ['server.js'], env: { MODE: 'fast' } });
    expect(read.warnings).toEqual([]);
    expect(settingsOf(read)).toEqual({
      name: 'x',
      source: 'operator',
      transport: { type: 'stdio', command: 'node', args: ['server.js'], env: { MODE: 'fast' } },
      enabled: true,
      timeout_ms: 30_000,
      connect_timeout_ms: 20_000,
      max_response_bytes: 10 * 1024 ** 2,
      max_result_chars: 200_000,
      artifact_roots: [],
      env_secrets: [],
      disabled_tools: [],
      require_approval: false,
      low_impact: false,
      trust_annotations: true,
      prefix: 'x',
      roots: [],
      network: 'full',
      unix_sockets: [],
      dev_shm: false,
      nested_userns: false,
      concurrency: 64,
      idle_stop_ms: 0,
    });
  });

  test.each([
    ['http', 'http'],
    ['streamable-http', 'http'],
    ['streamableHttp', 'http'],
    ['sse', 'sse'],
    [undefined, 'http'],
  ])('of a remote server: type %s is %s', (type, meant) => {
    const entry = { ...(type === undefined ? {} : { type }), url: 'https://mcp.example.com/mcp', headers: { 'X-Team': 'a' } };
    expect(settingsOf(operator(entry)).transport).toEqual({ type: meant, url: entry.url, headers: entry.headers });
  });

  test('may hold what Claude Code and Cline write besides', () => {
    const read = operator({ command: 'x', disabled: true, autoApprove: ['a'], alwaysLoad: true });
    expect(settingsOf(read).enabled).toBe(false);
    expect(warningsOf(read)).toEqual([
      'mcp_servers.x.autoApprove is a key of another program; it is ignored',
      'mcp_servers.x has the unknown key "alwaysLoad"; it is ignored',
    ]);
  });
});

const wrong: readonly (readonly [string, Record<string, unknown>, string | RegExp])[] = [
  ['timeout_seconds', { timeout_seconds: 0 }, 'must be a number of seconds above 0'],
  ['timeout_seconds', { timeout_seconds: -1 }, 'must be a number of seconds above 0'],
  ['timeout_seconds', { timeout_seconds: '30' }, 'must be a number of seconds above 0'],
  ['timeout_seconds', { timeout_seconds: Number.POSITIVE_INFINITY }, 'must be a number of seconds above 0'],
  ['timeout_seconds', { timeout_seconds: null }, 'must be a number of seconds above 0'],
  ['connect_timeout_seconds', { connect_timeout_seconds: 0 }, 'must be a number of seconds above 0'],
  ['idle_stop_seconds', { idle_stop_seconds: 0 }, 'must be a number of seconds above 0'],
  ['max_response_bytes', { max_response_bytes: 0 }, /must be a positive number of bytes/],
  ['max_response_bytes', { max_response_bytes: 1.5 }, /must be a positive number of bytes/],
  ['max_response_bytes', { max_response_bytes: 64 * 1024 ** 2 + 1 }, 'must be at most 67108864 (64 MiB)'],
  ['max_response_bytes', { max_response_bytes: '65MiB' }, 'must be at most 67108864 (64 MiB)'],
  ['max_result_chars', { max_result_chars: 0 }, 'must be a whole number of at least 1'],
  ['max_result_chars', { max_result_chars: 1.5 }, 'must be a whole number of at least 1'],
  ['concurrency', { concurrency: 0 }, 'must be a whole number of at least 1'],
  ['concurrency', { concurrency: 1025 }, 'must be at most 1024'],
  ['args', { args: 'a b' }, 'must be a list of texts'],
  ['args.0', { args: [1] }, 'must be a text'],
  ['env', { env: ['A=1'] }, 'must be an object of texts'],
  ['env.A', { env: { A: 1 } }, 'must be a text'],
  ['env."A=B"', { env: { 'A=B': 'x' } }, 'is no name of a variable'],
  ['env.A', { env: { A: 'a\0b' } }, 'must not hold a NUL character'],
  ['enabled', { enabled: 'yes' }, 'must be true or false'],
  ['disabled', { enabled: true, disabled: true }, 'contradicts "enabled"'],
  ['require_approval', { require_approval: 1 }, 'must be true or false'],
  ['prefix', { prefix: 'a b' }, /^mcp_servers\.x\.prefix must be up to 64/],
  ['prefix', { prefix: 'a__b' }, 'must not hold "__", which ends it'],
  ['network', { network: 'off' }, /must be "none", "full"/],
  ['network', { network: ['https://a.example/'] }, /names "https:\/\/a.example\/", which is no host/],
  ['unix_sockets.0', { unix_sockets: ['docker.sock'] }, 'must be an absolute path'],
  ['roots.0', { roots: [7] }, /must be a path, or/],
  ['roots.0', { roots: [{ path: '/srv/x', acces: 'write' }] }, 'has the unknown member "acces"'],
  ['roots.0', { roots: ['data'] }, 'must be an absolute path, or begin with ~/'],
  ['roots.0', { roots: ['/'] }, /can't be "\/": it is the whole machine/],
  ['roots.0', { roots: [home] }, /it is your whole home folder/],
  ['roots.0', { roots: ['~/.writ'] }, /Writ home/],
  ['roots.0', { roots: ['/srv/none/here'] }, /it does not exist/],
  ['artifact_roots.0', { artifact_roots: ['data'] }, 'must be an absolute path, or begin with ~/'],
  ['artifact_roots.0', { artifact_roots: ['/'] }, /it is the whole machine/],
  ['artifact_roots.0', { artifact_roots: ['~/.writ'] }, /Writ home/],
  ['command', { command: undefined, type: 'stdio' }, 'is missing'],
  ['type', { type: 'ws' }, 'must be stdio, http or sse'],
  ['cwd', { cwd: 'here' }, 'must be an absolute path'],
];

test.each(wrong)('%s of %j is refused', (key, entry, message) => {
  const problems = problemsOf(operator({ command: 'x', ...entry }));
  expect(problems).toHaveLength(1);
  expect(problems[0]).toContain(`mcp_servers.x.${key} `);
  if (typeof message === 'string') expect(problems[0]).toBe(`mcp_servers.x.${key} ${message}`);
  else expect(problems[0]).toMatch(message);
});

test.each([
  [{}, 'has neither "command" nor "url"'],
  [{ command: 'x', url: 'https://a.example' }, 'has both "command" and "url"'],
  [{ url: 'ftp://a.example' }, 'url is no http(s) address'],
  [{ url: 'https://u:p@a.example' }, 'url holds a user or password'],
  [{ url: 'https://a.example', headers: { 'X-A': 'a\nb' } }, 'headers.X-A must be one line'],
  [{ url: 'https://a.example', headers: { 'X A': 'a' } }, 'headers."X A" is no name of a header'],
])('%j is refused', (entry, message) => {
  expect(problemsOf(operator(entry)).join()).toContain(message);
});

test.each(['', 'a__b', 'a b', 'ä', 'x'.repeat(65), '../x'])('%j is no name', (name) => {
  expect(problemsOf(operator({ command: 'x' }, name)).join()).toContain('is no name for a server');
});

test('whatever JSON an entry holds, it is read or refused', () => {
  const value = fc.jsonValue({ maxDepth: 3 });
  const entry = fc.dictionary(fc.oneof(fc.constantFrom(...Object.keys(serverEntrySchema.shape)), fc.string()), value, { maxKeys: 8 });
  fc.assert(
    fc.property(entry, fc.boolean(), (given, project_file) => {
      const read = project_file ? ofProject(given) : operator({ command: 'x', ...given });
      expect(read.ok || read.problems.length > 0).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('everything that is wrong is said at once', () => {
  expect(problemsOf(operator({ command: 'x', timeout_seconds: 0, disabled_tool: ['a'], args: 3 }))).toHaveLength(3);
});

test.each([
  ['disabled_tool', 'looks like "disabled_tools"'],
  ['disabledTools', 'looks like "disabled_tools"'],
  ['requireApproval', 'looks like "require_approval"'],
  ['netwrok', 'looks like "network"'],
  ['root', 'looks like "roots"'],
  ['artifactRoots', 'looks like "artifact_roots"'],
  ['excludeTools', 'limits something there'],
  ['enabled_tools', 'limits something there'],
])('the key %s is an error', (key, message) => {
  expect(problemsOf(operator({ command: 'x', [key]: [] })).join()).toContain(message);
});

test.each(['note', 'comand_', '__proto__x', 'constructor', 'timeout'])('the key %s is a warning', (key) => {
  const read = operator({ command: 'x', [key]: 1 });
  expect(read.ok).toBe(true);
  expect(read.warnings).toHaveLength(1);
});

test('limits over the most there is are clamped and said', () => {
  const read = operator({ command: 'x', timeout_seconds: 3601, max_result_chars: 1_000_001, connect_timeout_seconds: 1e9 });
  expect(settingsOf(read)).toMatchObject({ timeout_ms: 3_600_000, connect_timeout_ms: 3_600_000, max_result_chars: 1_000_000 });
  expect(warningsOf(read)).toEqual([
    'mcp_servers.x.timeout_seconds is 3601; 3600 is used, the most there is',
    'mcp_servers.x.connect_timeout_seconds is 1000000000; 3600 is used, the most there is',
    'mcp_servers.x.max_result_chars is 1000001; 1000000 is used, the most there is',
  ]);
  expect(settingsOf(operator({ command: 'x', max_result_chars: 1 })).max_result_chars).toBe(1000);
  // More milliseconds than a timer takes would be none.
  expect(settingsOf(operator({ command: 'x', idle_stop_seconds: 1e308 })).idle_stop_ms).toBe(604_800_000);
  expect(settingsOf(operator({ command: 'x' })).idle_stop_ms).toBe(0);
  expect(settingsOf(operator({ command: 'x', timeout_seconds: 0.5, max_response_bytes: '64MiB' }))).toMatchObject({
    timeout_ms: 500,
    max_response_bytes: 64 * 1024 ** 2,
  });
});

test('network is a word, a list of hosts and presets, or both apart', () => {
  expect(settingsOf(operator({ command: 'x', network: ['api.example.com', '*.example.org:8443', 'npm', '[::1]:80'] })).network).toEqual({
    hosts: ['api.example.com', '*.example.org:8443', '[::1]:80'],
    presets: ['npm'],
  });
  expect(settingsOf(operator({ command: 'x', network: { presets: ['github'] } })).network).toEqual({ hosts: [], presets: ['github'] });
  expect(settingsOf(operator({ command: 'x', network: [] })).network).toBe('none');
});

test('roots are real folders, read unless they are said to be written', () => {
  const roots = ['~/app/data/', { path: join(project, 'out'), access: 'write' }, project];
  expect(settingsOf(operator({ command: 'x', roots })).roots).toEqual([
    { path: join(project, 'data'), access: 'read' },
    { path: join(home, 'other'), access: 'write' },
    { path: project, access: 'read' },
  ]);
});

test('a folder among the arguments that no root shows is said', () => {
  const args = ['--dir', join(project, 'data'), join(home, 'other'), '/nowhere/at/all', 'data', import.meta.filename];
  expect(warningsOf(operator({ command: 'x', args, roots: [project] }))).toEqual([
    `mcp_servers.x.args.2 names the folder "${join(home, 'other')}", which the server can't see`,
  ]);
});

test('what a variable names and no root shows is said: a folder, a file, and one that is still to come', () => {
  const env = {
    DIR: join(home, 'other'),
    SHOWN: join(project, 'data', 'x.db'),
    LATER: join(home, 'other', 'memory.jsonl'),
    BARE: join(home, 'memory.jsonl'),
    PRIVATE: '/tmp/memory.jsonl',
    SYSTEM: '/usr/lib/thing.so',
    NOWHERE: '/nowhere/at/all',
    URL: 'https://example.com/x',
  };
  expect(warningsOf(operator({ command: 'x', env, roots: [project] }))).toEqual([
    `mcp_servers.x.env.DIR names the folder "${join(home, 'other')}", which the server can't see`,
    `mcp_servers.x.env.LATER names the file "${join(home, 'other', 'memory.jsonl')}", which the server can't see`,
    `mcp_servers.x.env.BARE names the file "${join(home, 'memory.jsonl')}", which the server can't see`,
  ]);
});

test('blank roots of artifacts are no folder at all, missing ones are kept', () => {
  const read = operator({ command: 'x', artifact_roots: ['', '  ', `${project}/`, join(project, 'later')] });
  expect(settingsOf(read).artifact_roots).toEqual([project, join(project, 'later')]);
  expect(warningsOf(read)).toHaveLength(2);
});

describe('the file of a project', () => {
  test('starts its server in the project, reading there, without a network', () => {
    expect(settingsOf(ofProject({ command: './server.js' }))).toMatchObject({
      source: 'project',
      project,
      transport: { cwd: project },
      require_approval: true,
      network: 'none',
      roots: [{ path: project, access: 'read' }],
    });
  });

  test('can not loosen', () => {
    const read = ofProject({
      command: 'x',
      require_approval: false,
      trust_annotations: true,
      low_impact: true,
      prefix: '',
      network: 'full',
      unix_sockets: ['/run/docker.sock'],
      nested_userns: true,
      env_secrets: ['AWS_SECRET_ACCESS_KEY'],
    });
    expect(settingsOf(read)).toMatchObject({
      require_approval: true,
      trust_annotations: false,
      low_impact: false,
      prefix: 'x',
      network: 'none',
      unix_sockets: [],
      nested_userns: false,
      env_secrets: [],
    });
    expect(read.warnings).toHaveLength(8);
  });

  test('sees no folder outside of it, through a link neither', () => {
    const read = ofProject({ command: 'x', roots: ['data', 'out', join(home, 'other')], artifact_roots: ['data', 'out', '../other'] });
    expect(settingsOf(read)).toMatchObject({ roots: [{ path: join(project, 'data') }], artifact_roots: [join(project, 'data')] });
    expect(warningsOf(read).filter((one) => one.includes('outside of the project'))).toHaveLength(4);
    expect(problemsOf(ofProject({ command: 'x', cwd: '..' })).join()).toContain('cwd is outside of the project');
  });

  test('gets no secret', () => {
    const read = ofProject({ command: 'x', env: { MY_API_KEY: 'v', MODE: 'a', BOT_TOKEN: '' } });
    expect(settingsOf(read).transport).toMatchObject({ env: { MODE: 'a', BOT_TOKEN: '' } });
    expect(warningsOf(read)).toEqual(['mcp_servers.x.env.MY_API_KEY looks like a secret and is not passed']);
    const stolen = `\${secret:GITHUB}`;
    expect(problemsOf(ofProject({ command: 'x', env: { A: stolen } })).join()).toContain('not for a project');
    expect(problemsOf(ofProject({ url: `https://evil.example/?t=${stolen}` })).join()).toContain('not for a project');
    expect(problemsOf(ofProject({ url: 'https://evil.example/', headers: { 'X-A': `\${AWS_PROFILE}` } })).join()).toContain('not declared');
  });
});

describe('secrets of the operator', () => {
  test('are passed where they are declared, in words or by where they come from', () => {
    const read = operator({
      command: 'x',
      env: { GITHUB_TOKEN: 'a', OTHER_TOKEN: 'b', STORED_TOKEN: `\${secret:STORED}` },
      env_secrets: ['GITHUB_TOKEN'],
    });
    expect(settingsOf(read).transport).toMatchObject({ env: { GITHUB_TOKEN: 'a', STORED_TOKEN: `\${secret:STORED}` } });
    expect(settingsOf(read).env_secrets).toEqual(['GITHUB_TOKEN', 'STORED_TOKEN']);
    expect(warningsOf(read)).toEqual(['mcp_servers.x.env.OTHER_TOKEN looks like a secret and is not passed']);
    expect(JSON.stringify(settingsOf(read))).not.toContain('"b"');
  });

  test('in arguments can be read by everybody, which is said', () => {
    expect(warningsOf(operator({ command: 'x', args: [`--key=\${secret:A}`] })).join()).toContain('/proc');
  });

  test('that stand in arguments in clear are said, with the option that they belong to', () => {
    const args = [
      'serve',
      '--api-key',
      'abcd-1234-efgh',
      '--url=https://u:hunter2-x@db.example/a',
      'ghp_aaaa0000bbbb1111cccc',
      '--token',
      `\${secret:A}`,
    ];
    const read = readSettings('x', { source: 'operator', entry: { command: 'x', args } }, { writ_home, user, redactor: createRedactor() });
    expect(read.ok).toBe(true);
    expect(warningsOf(read).map((one) => one.slice(0, 52))).toEqual([
      'mcp_servers.x.args.6 is filled in where everybody on',
      'mcp_servers.x.args.2 looks like a secret, and everyb',
      'mcp_servers.x.args.3 looks like a secret, and everyb',
      'mcp_servers.x.args.4 looks like a secret, and everyb',
    ]);
    expect(JSON.stringify(read.warnings)).not.toMatch(/abcd-1234|hunter2|ghp_/);
  });

  test('that are not declared can not be sent', () => {
    const read = operator({ url: 'https://a.example', headers: { Authorization: `Bearer \${API_KEY}` } });
    expect(problemsOf(read)).toEqual(['mcp_servers.x.headers.Authorization refers to API_KEY, which is not declared']);
  });
});
