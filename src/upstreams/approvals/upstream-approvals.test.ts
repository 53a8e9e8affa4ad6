import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { AuditEvent, AuditLog } from '../../audit/types.ts';
import { createHomeSigner } from '../../identity/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { createRedactor } from '../../kernel/redaction/index.ts';
import type { JsonObject, UpstreamSettings } from '../types.ts';
import type { SeenTool, UpstreamApprovals } from './types.ts';
import { createUpstreamApprovals } from './upstream-approvals.ts';

let home: string;
let project: string;
let events: AuditEvent[];
let auditFault: AppError | undefined;
let now: number;

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'writ-upstream-approvals-')));
  project = join(home, 'project');
  mkdirSync(project);
  events = [];
  auditFault = undefined;
  now = 1_000;
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const LOCK = 'upstream-approvals.lock';
const file = (): string => join(home, 'upstream-approvals.json');
const types = (): readonly string[] => events.map(({ type }) => type);

function approvals(more: { readonly approve_all?: boolean; readonly versionOf?: () => string } = {}): UpstreamApprovals {
  const audit = {
    record: async (event: AuditEvent) => {
      if (auditFault !== undefined) throw auditFault;
      events.push(event);
      return { chain: 'c', seq: events.length };
    },
  } as unknown as AuditLog;
  return createUpstreamApprovals({
    home,
    organization: 'org_test',
    clock: { now: () => now, monotonic: () => now },
    audit: async () => audit,
    signer: createHomeSigner(home),
    redactor: createRedactor(),
    ...more,
  });
}

const SETTINGS: UpstreamSettings = {
  name: 'files',
  source: 'operator',
  transport: { type: 'stdio', command: 'node', args: ['server.js'], env: { LEVEL: 'info' } },
  enabled: true,
  timeout_ms: 30_000,
  connect_timeout_ms: 20_000,
  max_response_bytes: 10_485_760,
  max_result_chars: 200_000,
  artifact_roots: [],
  env_secrets: [],
  disabled_tools: [],
  require_approval: false,
  low_impact: false,
  trust_annotations: false,
  prefix: 'files',
  roots: [],
  network: 'none',
  unix_sockets: [],
  dev_shm: false,
  nested_userns: false,
  concurrency: 8,
  idle_stop_ms: 0,
};
const operator = (more: Partial<UpstreamSettings> = {}): UpstreamSettings => ({ ...SETTINGS, ...more });
const foreign = (more: Partial<UpstreamSettings> = {}): UpstreamSettings => ({ ...SETTINGS, source: 'project', project, ...more });
const withEnv = (env: Record<string, string>): Partial<UpstreamSettings> => ({
  transport: { type: 'stdio', command: 'node', args: ['server.js'], env },
});

const tool = (more: JsonObject = {}, held = false): SeenTool => ({
  name: 'get',
  definition: { name: 'get', description: 'Gets it.', inputSchema: { type: 'object', properties: { q: { type: 'string' } } }, ...more },
  held,
});

async function judged(settings: UpstreamSettings, one: SeenTool, from = approvals()) {
  const [answer] = await from.judgeTools(settings, [one]);
  if (answer === undefined) throw new Error('no answer');
  return answer.judgement;
}

async function sayYes(settings: UpstreamSettings): Promise<void> {
  const { sha256 } = await approvals().judgeServer(settings);
  expect(await approvals().approveServer(settings, { sha256, by: 'a person' })).toEqual({ ok: true });
}

test('an upstream of a project waits for an answer, and every process knows it', async () => {
  const first = await approvals().judgeServer(foreign());
  expect(first).toMatchObject({ state: 'unknown' });
  expect(first.state === 'unknown' ? first.difference.changes.map(({ path }) => path) : []).toContain('transport');
  await sayYes(foreign());
  expect(await approvals().judgeServer(foreign())).toEqual({ state: 'approved', sha256: first.sha256 });
  expect(statSync(file()).mode & 0o777).toBe(0o600);
  expect(events).toMatchObject([
    {
      type: 'upstream.approved',
      at: 1_000,
      organization: 'org_test',
      data: { upstream: 'files', project, by: 'a person', sha256: first.sha256 },
    },
  ]);
});

test('an upstream of the operator needs none, and can be denied', async () => {
  expect(await approvals().judgeServer(operator())).toMatchObject({ state: 'approved' });
  expect(existsSync(file())).toBe(false);
  await approvals().deny(operator(), 'me');
  expect(await approvals().judgeServer(operator())).toMatchObject({ state: 'denied', reason: 'Denied by me.' });
});

test.each<[string, Partial<UpstreamSettings>]>([
  ['command', { transport: { type: 'stdio', command: 'deno', args: ['server.js'], env: { LEVEL: 'info' } } }],
  ['arguments', { transport: { type: 'stdio', command: 'node', args: ['server.js', '-v'], env: { LEVEL: 'info' } } }],
  ['value of the environment', withEnv({ LEVEL: 'debug' })],
  ['name of the environment', withEnv({ LEVEL: 'info', NODE_OPTIONS: '--require ./x.js' })],
  ['working directory', { transport: { type: 'stdio', command: 'node', args: ['server.js'], env: { LEVEL: 'info' }, cwd: '/tmp' } }],
  ['address', { transport: { type: 'http', url: 'https://a.example/mcp', headers: {} } }],
  ['time', { timeout_ms: 3_600_000 }],
  ['size of answers', { max_response_bytes: 20_000_000 }],
  ['size of results', { max_result_chars: 1_000_000 }],
  ['artifact roots', { artifact_roots: ['/home'] }],
  ['roots', { roots: [{ path: '/srv', access: 'read' }] }],
  ['network', { network: 'full' }],
  ['sockets', { unix_sockets: ['/run/docker.sock'] }],
  ['annotations', { trust_annotations: true }],
  ['prefix', { prefix: '' }],
])('an approved upstream asks again after a change of: %s', async (_, more) => {
  await sayYes(foreign());
  const after = await approvals().judgeServer(foreign(more));
  expect(after).toMatchObject({ state: 'changed', reason: 'Its settings are not the ones that were approved.' });
  const places = after.state === 'changed' ? after.difference.changes.map(({ path }) => path.split('.')[0]) : [];
  expect(new Set(places).size).toBe(1);
});

test("what changes nothing about it doesn't ask again, a new version of the package does", async () => {
  await sayYes(foreign());
  const same = { enabled: false, disabled_tools: ['x'], concurrency: 1, idle_stop_ms: 5, connect_timeout_ms: 1 };
  expect(await approvals().judgeServer(foreign(same))).toMatchObject({ state: 'approved' });
  expect(await approvals().judgeServer(foreign(), { version: '2.0.0' })).toMatchObject({
    state: 'changed',
    difference: { changes: [{ path: 'version', kind: 'added', after: '"2.0.0"' }] },
  });
});

const REFERENCE = ['$', '{secret:NAME}'].join('');

test('a secret is known by a keyed digest only, and a change of it asks again', async () => {
  const secret = 'sk-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa';
  const of = (key: string): UpstreamSettings => foreign({ ...withEnv({ API_KEY: key, LEVEL: 'info', GIVEN: REFERENCE }) });
  await sayYes(of(secret));
  const text = readFileSync(file(), 'utf8');
  expect(text).not.toContain(secret);
  expect(text).toContain(REFERENCE);
  expect(text).toContain('info');
  expect(await approvals().judgeServer(of(secret))).toMatchObject({ state: 'approved' });
  expect(await approvals().judgeServer(of('hunter2'))).toMatchObject({ state: 'changed' });
});

test('a secret is known as one by its name or by its looks', async () => {
  const looks = `ghp_${'a'.repeat(36)}`;
  const of = (word: string, argument: string): UpstreamSettings =>
    foreign({ transport: { type: 'stdio', command: 'node', args: ['--with', argument], env: { DB_PASSWORD: word } } });
  await sayYes(of('kitten', looks));
  const text = readFileSync(file(), 'utf8');
  expect([text.includes('kitten'), text.includes(looks), text.includes('--with')]).toEqual([false, false, true]);
  expect(await approvals().judgeServer(of('kitten', looks))).toMatchObject({ state: 'approved' });
  expect(await approvals().judgeServer(of('puppy', looks))).toMatchObject({ state: 'changed' });
  expect(await approvals().judgeServer(of('kitten', `${looks}a`))).toMatchObject({ state: 'changed' });
});

test('an answer to what was shown is none to what it has become', async () => {
  const { sha256 } = await approvals().judgeServer(foreign());
  expect(await approvals().approveServer(foreign({ network: 'full' }), { sha256, by: 'a person' })).toMatchObject({
    ok: false,
    reason: 'changed',
  });
  expect(await approvals().judgeServer(foreign({ network: 'full' }))).toMatchObject({ state: 'unknown' });
  expect(events).toEqual([]);
});

test('tools of the operator are pinned at first sight, and a change puts them aside until somebody answers', async () => {
  expect(await judged(operator(), tool())).toMatchObject({ state: 'approved' });
  expect(types()).toEqual(['upstream_tool.seen']);
  const changed = await judged(operator(), tool({ description: 'Gets it\u202e all.' }));
  expect(changed).toMatchObject({
    state: 'changed',
    difference: { changes: [{ path: 'description', kind: 'changed', before: '"Gets it."', after: '"Gets it\\u{202e} all."' }] },
  });
  expect(types()).toEqual(['upstream_tool.seen', 'upstream_tool.changed']);
  // Neither the new one nor the old one, and no second row for the same.
  expect(await judged(operator(), tool({ description: 'Gets it\u202e all.' }))).toMatchObject({ state: 'changed' });
  expect(await judged(operator(), tool())).toMatchObject({ state: 'changed', reason: expect.stringContaining('changed back') });
  expect(events.length).toBe(2);
  const key = { project: null, name: 'files' };
  expect(await approvals().approveTools(key, [{ name: 'get', sha256: changed.sha256 }], 'me')).toEqual([
    { name: 'get', answer: { ok: true } },
  ]);
  expect(await judged(operator(), tool({ description: 'Gets it\u202e all.' }))).toMatchObject({ state: 'approved' });
  expect(await judged(operator(), tool())).toMatchObject({ state: 'changed' });
});

test.each<[string, JsonObject]>([
  ['title', { title: 'Get' }],
  ['annotations', { annotations: { readOnlyHint: true } }],
  ['inputSchema.properties.q.type', { inputSchema: { type: 'object', properties: { q: { type: 'number' } } } }],
  ['outputSchema', { outputSchema: { type: 'object' } }],
  ['_meta', { _meta: { x: 1 } }],
  ['icons', { icons: [{ src: 'https://example.com/i.png' }] }],
  ['future', { future: true }],
])('a pin covers %s', async (path, more) => {
  await judged(operator(), tool());
  const after = await judged(operator(), tool(more));
  expect(after).toMatchObject({ state: 'changed', difference: { changes: [{ path }] } });
});

test('tools of a project, of `require_approval` and held ones need an answer each', async () => {
  for (const [settings, held] of [
    [foreign(), false],
    [operator({ name: 'careful', require_approval: true }), false],
    [operator({ name: 'odd' }), true],
  ] as const) {
    const before = await judged(settings, tool({}, held));
    expect(before).toMatchObject({ state: 'unknown', difference: { after: { schema: { bytes: 54 } } } });
    const key = { project: settings.source === 'project' ? project : null, name: settings.name };
    const answer = (sha256: string) => approvals().approveTools(key, [{ name: 'get', sha256 }], 'me');
    expect(await answer('0'.repeat(64))).toMatchObject([{ answer: { ok: false, reason: 'changed' } }]);
    expect(await judged(settings, tool({}, held))).toMatchObject({ state: 'unknown' });
    expect(await answer(before.sha256)).toEqual([{ name: 'get', answer: { ok: true } }]);
    expect(await judged(settings, tool({}, held))).toMatchObject({ state: 'approved' });
  }
});

test('a tool that was approved one by one asks again when another server stands behind it, not when a limit changes', async () => {
  const settings = foreign();
  const { sha256 } = await judged(settings, tool());
  await approvals().approveTools({ project, name: 'files' }, [{ name: 'get', sha256 }], 'me');
  expect(await judged(foreign({ timeout_ms: 5 }), tool())).toMatchObject({ state: 'approved' });
  const other = foreign({ transport: { type: 'stdio', command: '/tmp/evil', args: [], env: {} } });
  expect(await judged(other, tool())).toMatchObject({ state: 'changed', sha256, reason: expect.stringContaining('server behind it') });
  await approvals().approveTools({ project, name: 'files' }, [{ name: 'get', sha256 }], 'me');
  expect(await judged(other, tool())).toMatchObject({ state: 'approved' });
});

test('a held tool that was seen before asks from then on', async () => {
  expect(await judged(operator(), tool())).toMatchObject({ state: 'approved' });
  expect(await judged(operator(), tool({}, true))).toMatchObject({ state: 'unknown' });
});

test('what hardening said is kept for whoever answers', async () => {
  const flags = ['A text of it asks for secrets.'];
  const { sha256 } = await judged(operator(), { ...tool({}, true), flags });
  const shown = async () => {
    const listed = await approvals().list();
    return listed.ok ? listed.upstreams[0]?.tools[0] : undefined;
  };
  expect(await shown()).toMatchObject({ state: 'asked', flags });
  await approvals().approveTools({ project: null, name: 'files' }, [{ name: 'get', sha256 }], 'me');
  expect(await shown()).toMatchObject({ state: 'approved', by: 'me', flags });
  await judged(operator(), tool({ title: 'x' }));
  expect(await shown()).toMatchObject({ state: 'changed', flags: [] });
});

test('denied stays denied whatever it becomes; revoking forgets', async () => {
  await judged(operator(), tool());
  await approvals().deny(operator(), 'me', ['get']);
  expect(await judged(operator(), tool({ title: 'new' }))).toMatchObject({ state: 'denied', reason: 'Denied by me.' });
  const key = { project: null, name: 'files' };
  expect(await approvals().revoke(key, 'me', ['other'])).toBe(false);
  expect(await approvals().revoke(key, 'me', ['get'])).toBe(true);
  expect(await judged(operator(), tool())).toMatchObject({ state: 'approved' });
  await sayYes(foreign());
  expect(await approvals().revoke({ project, name: 'files' }, 'me')).toBe(true);
  expect(await approvals().judgeServer(foreign())).toMatchObject({ state: 'unknown' });
  expect(types().filter((type) => /revoked|denied/.test(type))).toEqual([
    'upstream_tool.denied',
    'upstream.revoked',
    'upstream_tool.revoked',
    'upstream.revoked',
  ]);
});

test('the list shows what an answer needs', async () => {
  await sayYes(foreign());
  await judged(foreign(), tool({ description: 'x\u001b[31m' }));
  await judged(operator(), tool());
  await judged(operator(), tool({ title: 'other' }));
  const listed = await approvals().list();
  expect(listed).toMatchObject({
    ok: true,
    upstreams: [
      {
        project,
        name: 'files',
        server: { state: 'approved', by: 'a person' },
        tools: [{ name: 'get', state: 'asked', difference: { changes: expect.anything() } }],
      },
      {
        project: null,
        name: 'files',
        tools: [{ name: 'get', state: 'changed', difference: { changes: [{ path: 'title', kind: 'added' }] } }],
      },
    ],
  });
  const [shown] = (listed.ok && listed.upstreams[0]?.tools[0]?.difference?.changes) || [];
  expect(shown?.after).toMatch(/^"x[\x20-\x7e]+"$/);
});

test('a yes for one run is written down in the audit alone, and a no stands against it', async () => {
  const all = approvals({ approve_all: true });
  for (const _ of [1, 2]) {
    expect(await all.judgeServer(foreign())).toMatchObject({ state: 'approved', once: true });
    expect(await judged(foreign(), tool(), all)).toMatchObject({ state: 'approved', once: true });
  }
  expect(existsSync(file())).toBe(false);
  expect(events).toMatchObject([
    { type: 'upstream.approved', data: { once: true, by: 'WRIT_APPROVE_MCP' } },
    { type: 'upstream_tool.approved', data: { once: true, tools: [{ name: 'get' }] } },
  ]);
  expect(await approvals().judgeServer(foreign())).toMatchObject({ state: 'unknown' });
  await approvals().deny(foreign(), 'me');
  await approvals().deny(foreign(), 'me', ['get']);
  expect(await all.judgeServer(foreign())).toMatchObject({ state: 'denied' });
  expect(await judged(foreign(), tool(), all)).toMatchObject({ state: 'denied' });
});

test('an answer that could not be recorded is none', async () => {
  const { sha256 } = await approvals().judgeServer(foreign());
  auditFault = new AppError('disk_full', 'full');
  await expect(approvals().approveServer(foreign(), { sha256, by: 'me' })).rejects.toBe(auditFault);
  await expect(judged(operator(), tool())).rejects.toBe(auditFault);
  auditFault = undefined;
  expect(await approvals().judgeServer(foreign())).toMatchObject({ state: 'unknown' });
  expect(readdirSync(home).filter((name) => name.startsWith('upstream'))).toEqual([]);
});

const torn: readonly [string, () => void][] = [
  ['torn', () => writeFileSync(file(), readFileSync(file(), 'utf8').slice(0, 300), { mode: 0o600 })],
  ['empty', () => writeFileSync(file(), '')],
  ['of another shape', () => writeFileSync(file(), '{"version":1,"upstreams":[{"name":7}]}')],
  ['of a newer version', () => writeFileSync(file(), '{"version":2,"upstreams":[]}')],
  ['writable by others', () => chmodSync(file(), 0o622)],
  [
    'a symbolic link',
    () => {
      const kept = join(project, 'kept.json');
      writeFileSync(kept, readFileSync(file()), { mode: 0o600 });
      rmSync(file());
      symlinkSync(kept, file());
    },
  ],
  [
    'a folder',
    () => {
      rmSync(file());
      mkdirSync(file());
    },
  ],
];
test.each(torn)('a record that is %s approves nothing, is named and stays', async (_, spoil) => {
  await sayYes(foreign());
  await judged(operator(), tool());
  spoil();
  const content = (): string => (statSync(file()).isDirectory() ? '' : readFileSync(file(), 'utf8'));
  const before = content();
  expect(await approvals().judgeServer(foreign())).toMatchObject({ state: 'unknown', reason: expect.stringContaining(file()) });
  expect(await judged(operator(), tool())).toMatchObject({ state: 'unknown', reason: expect.stringContaining(file()) });
  expect(await judged(foreign(), tool(), approvals({ approve_all: true }))).toMatchObject({ state: 'unknown' });
  expect(await approvals().list()).toMatchObject({ ok: false, problem: expect.stringContaining(file()) });
  await expect(approvals().deny(foreign(), 'me')).rejects.toMatchObject({
    code: 'store_unavailable',
    fix: expect.stringContaining('good copy'),
  });
  expect(content()).toBe(before);
});

test('a wait for another process ends with the request', async () => {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  const stat = readFileSync('/proc/self/stat', 'utf8');
  const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  writeFileSync(join(home, LOCK), JSON.stringify({ boot, pid: process.pid, start }));
  const answer = approvals().judgeTools(operator(), [tool()], { signal: AbortSignal.abort() });
  await expect(answer).rejects.toMatchObject({ code: 'cancelled' });
  expect(existsSync(file())).toBe(false);
});

test('a process that looked before sees what another wrote since', async () => {
  const one = approvals();
  expect(await one.judgeServer(foreign())).toMatchObject({ state: 'unknown' });
  await sayYes(foreign());
  expect(await one.judgeServer(foreign())).toMatchObject({ state: 'approved' });
});

test('a pin of another format asks once and says so', async () => {
  await judged(operator(), tool());
  await sayYes(foreign());
  writeFileSync(
    file(),
    readFileSync(file(), 'utf8')
      .replaceAll('"format": 1', '"format": 0')
      .replaceAll(/("pin": \{\s*"format": 0,\s*"sha256": ")../g, '$1ff'),
  );
  expect(await approvals().judgeServer(foreign())).toMatchObject({ state: 'changed', reason: expect.stringContaining('asks once more') });
  const { sha256, ...rest } = await judged(operator(), tool());
  expect(rest).toMatchObject({ state: 'changed', reason: expect.stringContaining('asks once more') });
  await approvals().approveTools({ project: null, name: 'files' }, [{ name: 'get', sha256 }], 'me');
  expect(await judged(operator(), tool())).toMatchObject({ state: 'approved' });
});

test('paths that only look like the approved one are others', async () => {
  await sayYes(foreign());
  const twin = join(home, 'рroject');
  mkdirSync(twin);
  symlinkSync(project, join(home, 'link'));
  for (const other of [twin, join(home, 'link'), `${project}/`, join(home, 'gone'), '']) {
    expect({ other, state: (await approvals().judgeServer(foreign({ project: other }))).state }).toEqual({ other, state: 'unknown' });
  }
  const { sha256 } = await approvals().judgeServer(foreign({ project: join(home, 'link') }));
  await expect(approvals().approveServer(foreign({ project: join(home, 'link') }), { sha256, by: 'me' })).rejects.toMatchObject({
    code: 'invalid_arguments',
  });
  expect(await approvals().judgeServer(operator())).toMatchObject({ state: 'approved' });
  expect(await judged(operator({ require_approval: true }), tool())).toMatchObject({ state: 'unknown' });
});

test('a tool that was only seen waits for an answer as soon as one is wanted, and no more when it is not', async () => {
  const states = async (): Promise<readonly string[]> => {
    const listed = await approvals().list();
    return listed.ok ? listed.upstreams.flatMap(({ tools }) => tools.map(({ state }) => state)) : [];
  };
  expect(await judged(operator(), tool())).toMatchObject({ state: 'approved' });
  expect(await states()).toEqual(['seen']);
  expect(await judged(operator({ require_approval: true }), tool())).toMatchObject({ state: 'unknown' });
  expect(await states()).toEqual(['asked']);
  expect(await judged(operator(), tool())).toMatchObject({ state: 'approved' });
  expect(await states()).toEqual(['seen']);
});

test('a server that makes up tools without end fills its own record only', async () => {
  const many = (from: number, count: number): SeenTool[] =>
    Array.from({ length: count }, (_, at) => ({ ...tool(), name: `t${from + at}` }));
  await approvals().judgeTools(operator(), many(0, 1_999));
  const answers = await approvals().judgeTools(operator(), many(1_999, 3));
  expect(answers.map(({ judgement }) => judgement.state)).toEqual(['approved', 'denied', 'denied']);
  expect(await judged(operator({ name: 'other' }), tool())).toMatchObject({ state: 'approved' });
});

test('a lock that a killed process left is taken over', async () => {
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  // This process, begun at another time: a number that came round.
  writeFileSync(join(home, LOCK), JSON.stringify({ boot, pid: process.pid, start: '1' }));
  await sayYes(foreign());
  expect(
    readdirSync(home)
      .filter((name) => name.startsWith('upstream'))
      .sort(),
  ).toEqual(['upstream-approvals.json']);
});

test('processes that write at once lose nothing', async () => {
  const module = new URL('./records.ts', import.meta.url).href;
  const script = (who: number): string => `
    import { createRecords, recordFor } from ${JSON.stringify(module)};
    const records = createRecords(${JSON.stringify(home)});
    for (let at = 0; at < 10; at++) {
      await records.update(async (upstreams) => {
        recordFor(upstreams, { project: null, name: \`u${who}-\${at}\` });
        await new Promise((done) => setImmediate(done));
        return { value: undefined, write: true };
      });
    }`;
  const ends = [1, 2, 3].map(
    (who) =>
      new Promise((done) => spawn(process.execPath, ['--input-type=module', '-e', script(who)], { stdio: 'inherit' }).on('close', done)),
  );
  expect(await Promise.all(ends)).toEqual([0, 0, 0]);
  const listed = await approvals().list();
  expect(listed.ok && listed.upstreams.length).toBe(30);
  expect(readdirSync(home).filter((name) => name.startsWith('upstream'))).toEqual(['upstream-approvals.json']);
});

test('of a server with very long descriptions digests are kept, and the pins hold all the same', async () => {
  const long = (at: number, more = ''): SeenTool => ({
    name: `t${at}`,
    definition: { name: `t${at}`, description: `${'x'.repeat(4_000)}${more}` },
    held: false,
  });
  const tools = Array.from({ length: 1_200 }, (_, at) => long(at));
  await approvals().judgeTools(operator(), tools);
  expect(statSync(file()).size).toBeLessThan(5 * 1024 * 1024);
  const [answer] = await approvals().judgeTools(operator(), [long(1_199, '!')]);
  expect(answer?.judgement).toMatchObject({
    state: 'changed',
    difference: { changes: [{ path: 'description', before: expect.stringContaining('SHA-256') }] },
  });
});

test('another installed version is another server: it asks again, and so do its tools that were approved one by one', async () => {
  const at = (version: string): UpstreamApprovals => approvals({ versionOf: () => version });
  const tool: SeenTool = { name: 't', definition: { name: 't' }, held: false };
  const { sha256 } = await at('npm:x@1').judgeServer(foreign());
  expect(await at('npm:x@1').approveServer(foreign(), { sha256, by: 'me' })).toEqual({ ok: true });
  const [seen] = await at('npm:x@1').judgeTools(foreign(), [tool]);
  await at('npm:x@1').approveTools({ name: 'files', project }, [{ name: 't', sha256: seen?.judgement.sha256 ?? '' }], 'me');
  expect((await at('npm:x@1').judgeServer(foreign())).state).toBe('approved');
  expect((await at('npm:x@1').judgeTools(foreign(), [tool]))[0]?.judgement.state).toBe('approved');
  const changed = await at('npm:x@2').judgeServer(foreign());
  expect(changed).toMatchObject({ state: 'changed' });
  expect(JSON.stringify(changed)).toContain('npm:x@2');
  expect((await at('npm:x@2').judgeTools(foreign(), [tool]))[0]?.judgement.state).toBe('changed');
});
