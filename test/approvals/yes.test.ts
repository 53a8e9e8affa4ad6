import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ApprovalRecord, Decider, Reply } from '../../src/approvals/types.ts';
import { type Bed, makeBed } from '../../src/execution/containment/testing.ts';
import { makeSite, publishForNpm, publishForPip, type Site } from '../../src/execution/network/testing-site.ts';
import type { GateAnswer } from '../../src/gate/types.ts';
import type { Opening } from '../../src/policy/types.ts';
import { CREDENTIALS, serveGit } from './git-server.ts';
import { openWhole, type Whole } from './whole.ts';

/**
 * A yes opens exactly what its card shows, and what it was said to then really works: from the question to success, through gate,
 * store, tools and sandbox as they are composed for an agent. Only the names of the network are the test's.
 */

let bed: Bed;
let site: Site;
let docker: Server;
let whole: Whole;
/** Not below /tmp: a run has one of its own there, and writing to it opens nothing. */
let outside: string;

const CACHE = fileURLToPath(new URL('../../node_modules/.cache/writ-tests', import.meta.url));
const hasOutside = !/^\/(var\/)?tmp\//.test(CACHE) && works('mkdir', '-p', CACHE) && works('test', '-w', CACHE);
function works(program: string, ...args: readonly string[]): boolean {
  try {
    execFileSync(program, args, { stdio: 'ignore', timeout: 10_000 });
    return true;
  } catch {
    return false;
  }
}

const PROGRAMS = ['/usr/local/bin', '/usr/bin', '/bin'];
const NAMES = ['www.example.com', 'neighbour.example.com', 'git.example.com', 'registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org'];
const PERSON: Decider = { channel: 'page', who: 'dev' };
const has = (program: string): boolean => existsSync(`/usr/bin/${program}`);

beforeAll(async () => {
  bed = makeBed();
  outside = hasOutside ? mkdtempSync(join(CACHE, 'outside-')) : bed.folder('outside');
  const git = bed.folder('git');
  site = await makeSite({
    folder: bed.folder('site'),
    ca: join(bed.workspace, 'ca.pem'),
    names: NAMES,
    handle: (request, response) => {
      if (request.headers.host !== 'git.example.com') return false;
      serveGit(git, request, response);
      return true;
    },
  });
  for (const name of NAMES) site.publish(`${name}/file`, `a file of ${name}\n`);
  bed.file('people/dev/.aws/credentials', 'the secret that was asked for\n');
  bed.file('people/dev/.aws/config', 'another secret\n');
  writeFileSync(join(outside, 'notes.txt'), 'old\n');
  writeFileSync(join(outside, 'neighbour.txt'), 'untouched\n');
  bed.file(
    join(bed.workspace, 'neighbours'),
    `curl -sS -m 20 --cacert ca.pem https://neighbour.example.com/file && echo OPEN host
     cat ${bed.user_home}/.aws/config && echo OPEN secret
     echo touched >> ${outside}/neighbour.txt && echo OPEN file
     echo neighbours were tried`,
  );
  docker = await serveDocker();
  const host_env = { ...bed.config.host_env, PATH: [...PROGRAMS, join(bed.base, 'bin')].join(':') };
  whole = await openWhole({ ...bed, config: { ...bed.config, host_env } }, site.places);
});
afterAll(async () => {
  await whole.close();
  site.close();
  docker.close();
  bed.remove();
  rmSync(outside, { recursive: true, force: true });
});

/** A container service at the socket that the person's own settings name, for the real client; where there is none, for one of our own. */
async function serveDocker(): Promise<Server> {
  const socket = join(bed.folder('people/dev/.docker'), 'service.sock');
  const server = createServer((request, response) => {
    response.setHeader('content-type', 'application/json').setHeader('api-version', '1.43');
    const containers = [
      { Id: 'c'.repeat(64), Names: ['/my-container'], Image: 'left', Command: 'x', Created: 1, State: 'running', Status: 'Up', Ports: [] },
    ];
    response.end(request.url?.includes('/containers/json') ? JSON.stringify(containers) : '"OK"');
  });
  await new Promise<void>((done) => server.listen(socket, done));
  const place = `contexts/meta/${createHash('sha256').update('mine').digest('hex')}/meta.json`;
  const endpoints = { docker: { Host: `unix://${socket}`, SkipTLSVerify: false } };
  bed.file(`people/dev/.docker/${place}`, JSON.stringify({ Name: 'mine', Metadata: {}, Endpoints: endpoints }));
  bed.file('people/dev/.docker/config.json', '{"currentContext":"mine"}');
  if (!PROGRAMS.some((folder) => existsSync(join(folder, 'docker'))))
    bed.file('bin/docker', '#!/bin/sh\nexec curl -sS --unix-socket "$HOME/.docker/service.sock" http://docker/containers/json', 0o755);
  return server;
}

const wait = { timeout: 30_000, interval: 20 };

interface Asked {
  readonly card: ApprovalRecord['card'];
  readonly answer: GateAnswer;
  readonly id: string;
}

/** The call, and what a person says to the question that it makes. */
async function answered(call: Promise<GateAnswer>, reply: Omit<Reply, 'word'>): Promise<Asked> {
  await expect.poll(() => whole.approvals.list({ state: 'pending' }), wait).toHaveLength(1);
  const [record] = await whole.approvals.list({ state: 'pending' });
  if (record === undefined) throw new Error('nothing was asked');
  const { word } = record.card;
  const said = await whole.approvals.answer(record.id, { ...reply, ...(word === undefined ? {} : { word }) }, PERSON);
  expect(said).toMatchObject({ ok: true });
  return { card: record.card, answer: await call, id: record.id };
}

const shell = (command: string): Promise<GateAnswer> => whole.call('shell', { command });
const codeOf = (answer: GateAnswer): string => (answer.type === 'refused' ? answer.code : answer.type);
const textOf = (answer: GateAnswer): string => (answer.type === 'result' ? answer.output.text : JSON.stringify(answer));
const exitOf = (answer: GateAnswer): unknown => (answer.type === 'result' ? answer.output.structured['exit_code'] : answer);

interface Way {
  readonly command: string;
  readonly opens: readonly Opening[];
  /** What only success says. */
  readonly says: string;
}

async function fromQuestionToSuccess({ command, opens, says }: Way): Promise<string> {
  const uncontained = opens.some(({ type }) => type === 'uncontained');
  // The same words in a file are code of the project: contained, nobody is asked, and it doesn't work.
  writeFileSync(join(bed.workspace, 'contained'), command);
  const contained = await shell('bash ./contained');
  expect([codeOf(contained), exitOf(contained) === 0 && textOf(contained)]).toEqual(['result', false]);
  expect(textOf(contained)).not.toContain(says);

  const all = uncontained ? command : `${command} && sh ./neighbours`;
  expect(codeOf(await shell(all))).toBe('no_channel');
  const watching = whole.approvals.attend('page');
  await watching.ready;
  try {
    const yes = await answered(shell(all), { decision: 'approve' });
    expect(yes.card).toMatchObject({ what: all, cwd: bed.workspace });
    expect(yes.card.opens).toEqual(opens);
    expect([textOf(yes.answer), exitOf(yes.answer)]).toEqual([expect.stringContaining(says), 0]);
    if (!uncontained) {
      expect(textOf(yes.answer)).toContain('neighbours were tried');
      expect(textOf(yes.answer)).not.toContain('OPEN');
    }
    const again = await answered(shell(all), { decision: 'deny' });
    expect([again.id === yes.id, codeOf(again.answer)]).toEqual([false, 'denied_by_human']);
    expect((await whole.approvals.get(yes.id))?.state).toBe('used');
    return textOf(yes.answer);
  } finally {
    await watching.close();
  }
}

const hosts = (...named: readonly string[]): readonly Opening[] => [{ type: 'hosts', hosts: named, presets: [] }];
const preset = (name: string): readonly Opening[] => [{ type: 'hosts', hosts: [], presets: [name] }];

describe('the network', () => {
  const fetchFile = 'curl -sS --cacert ca.pem https://www.example.com/file';

  test.skipIf(!has('curl'))('curl', async () => {
    await fromQuestionToSuccess({ command: fetchFile, opens: hosts('www.example.com'), says: 'a file of www.example.com' });
  });

  test.skipIf(!has('curl'))('hosts changed on the card are the ones that are opened', async () => {
    const watching = whole.approvals.attend('page');
    await watching.ready;
    const opens = hosts('neighbour.example.com');
    const { answer } = await answered(shell(`${fetchFile}; sh ./neighbours`), { decision: 'approve', opens });
    await watching.close();
    expect(textOf(answer)).toContain('OPEN host');
    expect(textOf(answer)).not.toContain('a file of www.example.com');
    expect(textOf(answer)).toContain('refused www.example.com:443');
  });

  test.skipIf(!has('curl'))('a host that no word of the command names is put in by the person', async () => {
    bed.file(join(bed.workspace, 'address'), 'https://www.example.com/file');
    const watching = whole.approvals.attend('page');
    await watching.ready;
    const command = 'curl -sS --cacert ca.pem "$(cat address)"; sh ./neighbours';
    const { card, answer } = await answered(shell(command), { decision: 'approve', opens: hosts('www.example.com') });
    await watching.close();
    expect(card.opens).toEqual(hosts());
    expect(textOf(answer)).toContain('a file of www.example.com');
    expect(textOf(answer)).not.toContain('OPEN');
  });

  test.skipIf(!has('npm'))('npm ci', async () => {
    publishForNpm(site, bed.workspace, { postinstall: 'node -p "require(\'left\')"' });
    bed.file(join(bed.workspace, '.npmrc'), `cafile=${site.ca}\naudit=false\nforeground-scripts=true\n`);
    await fromQuestionToSuccess({ command: 'npm ci', opens: preset('npm'), says: 'left is here' });
  });

  describe.skipIf(!has('git'))('git push', () => {
    const git = (cwd: string, ...args: readonly string[]): string =>
      execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
        cwd,
        stdio: 'pipe',
        encoding: 'utf8',
        env: { PATH: '/usr/bin:/bin', HOME: bed.base },
      });
    const bareAt = (path: string): string => {
      const bare = bed.folder(`git/${path}`);
      git(bare, 'init', '-q', '--bare', '-b', 'main');
      return bare;
    };
    beforeAll(() => {
      git(bed.workspace, 'init', '-q', '-b', 'main');
      git(bed.workspace, 'commit', '-q', '--allow-empty', '-m', 'one');
      git(bed.workspace, 'remote', 'add', 'origin', 'https://git.example.com/repo.git');
      git(bed.workspace, 'config', 'http.sslCAInfo', site.ca);
    });

    test('to the remote of the repository', async () => {
      const bare = bareAt('repo.git');
      await fromQuestionToSuccess({ command: 'git push -u origin main', opens: hosts('git.example.com'), says: 'main -> main' });
      expect(git(bare, 'log', '--format=%s', 'main')).toBe('one\n');
    });

    test('with the credentials that are kept for it', async () => {
      const bare = bareAt('private.git');
      const path = bed.file('people/dev/.git-credentials', `https://${CREDENTIALS}@git.example.com\n`, 0o600);
      await fromQuestionToSuccess({
        command: 'git -c credential.helper=store push https://git.example.com/private.git main',
        opens: [...hosts('git.example.com'), { type: 'path', path, access: 'read' }],
        says: 'main -> main',
      });
      expect(git(bare, 'log', '--format=%s', 'main')).toBe('one\n');
    });
  });

  test.skipIf(!has('pip3'))('pip install', async () => {
    publishForPip(site, bed.folder('wheel'));
    execFileSync('/usr/bin/python3', ['-m', 'venv', '--system-site-packages', '--without-pip', '.venv'], { cwd: bed.workspace });
    const install = '.venv/bin/python -m pip install -q --cert ca.pem left';
    await fromQuestionToSuccess({
      command: `${install} && .venv/bin/python -c "import left; print(left.word)"`,
      opens: preset('pypi'),
      says: 'left is here',
    });
  });
});

describe('paths', () => {
  test.skipIf(!hasOutside)('a file outside, that is there', async () => {
    const path = join(outside, 'notes.txt');
    await fromQuestionToSuccess({
      command: `echo new >> ${path} && cat ${path}`,
      opens: [{ type: 'path', path, access: 'write' }],
      says: 'old\nnew\n',
    });
    expect(readFileSync(path, 'utf8')).toBe('old\nnew\n');
  });

  test.skipIf(!hasOutside)('a file outside, that is not there yet', async () => {
    const path = join(outside, 'new.txt');
    await fromQuestionToSuccess({
      command: `echo made > ${path} && cat ${path}`,
      opens: [{ type: 'path', path, access: 'write' }],
      says: 'made\n',
    });
    expect(readFileSync(path, 'utf8')).toBe('made\n');
  });

  test.skipIf(!hasOutside)('a folder outside, made and filled, and an empty one', async () => {
    const [path, empty] = [join(outside, 'made'), join(outside, 'empty')];
    await fromQuestionToSuccess({
      command: `mkdir -p ${path} ${empty} && cp ca.pem ${path}/copy && ls ${path}`,
      opens: [path, empty].map((one) => ({ type: 'path', path: one, access: 'write' })),
      says: 'copy\n',
    });
    expect([existsSync(join(path, 'copy')), existsSync(empty)]).toEqual([true, true]);
  });

  test.skipIf(!hasOutside)('a copy outside, under another name', async () => {
    const path = join(outside, 'copied.pem');
    await fromQuestionToSuccess({
      command: `cp ca.pem ${path} && echo copied`,
      opens: [{ type: 'path', path, access: 'write' }],
      says: 'copied\n',
    });
    expect(readFileSync(path, 'utf8')).toBe(readFileSync(site.ca, 'utf8'));
  });

  test.skipIf(!works('test', '-r', '/etc/shadow'))('a file of /etc that no run has', async () => {
    const path = '/etc/shadow';
    const says = execFileSync('cksum', [path], { encoding: 'utf8' });
    await fromQuestionToSuccess({ command: `cksum ${path}`, opens: [{ type: 'path', path, access: 'read' }], says });
  });

  test('one secret', async () => {
    await fromQuestionToSuccess({
      command: 'cat ~/.aws/credentials',
      opens: [{ type: 'path', path: join(bed.user_home, '.aws/credentials'), access: 'read' }],
      says: 'the secret that was asked for',
    });
  });
});

test('what would be read and is not there is no reason not to run', async () => {
  const watching = whole.approvals.attend('page');
  await watching.ready;
  const path = join(bed.user_home, '.kube/config');
  const { card, answer } = await answered(shell('cat ~/.kube/config || echo did without'), { decision: 'approve' });
  await watching.close();
  expect([card.opens, textOf(answer)]).toEqual([[{ type: 'path', path, access: 'read' }], expect.stringContaining('did without')]);
});

describe('file tools', () => {
  test.skipIf(!hasOutside)('one file outside, written, changed and read; its neighbours stay closed', async () => {
    const watching = whole.approvals.attend('page');
    await watching.ready;
    const path = join(outside, 'by-tool.txt');
    const call = async (tool: string, args: Readonly<Record<string, unknown>>, opens: readonly Opening[]): Promise<string> => {
      const { card, answer } = await answered(whole.call(tool, { path, ...args }), { decision: 'approve' });
      expect([codeOf(answer), card.opens]).toEqual(['result', opens]);
      return textOf(answer);
    };
    const writing: readonly Opening[] = [{ type: 'path', path, access: 'write' }];
    const before = await answered(whole.call('write_file', { path, content: 'old\n' }), { decision: 'deny' });
    expect([codeOf(before.answer), existsSync(path)]).toEqual(['denied_by_human', false]);
    await call('write_file', { content: 'old\n' }, writing);
    await call('patch', { old_string: 'old', new_string: 'new' }, writing);
    expect(readFileSync(path, 'utf8')).toBe('new\n');
    expect(await call('read_file', {}, [{ type: 'path', path, access: 'read' }])).toContain('new');
    const beside = await answered(whole.call('read_file', { path: join(outside, 'neighbour.txt') }), { decision: 'deny' });
    expect(codeOf(beside.answer)).toBe('denied_by_human');
    await watching.close();
  });

  test('one secret of the Workspace', async () => {
    const path = bed.file(join(bed.workspace, '.env'), 'GREETING=hello\n');
    expect(codeOf(await whole.call('read_file', { path }))).toBe('no_channel');
    const watching = whole.approvals.attend('page');
    await watching.ready;
    const { card, answer } = await answered(whole.call('read_file', { path }), { decision: 'approve' });
    expect([card.opens, textOf(answer)]).toEqual([[{ type: 'path', path, access: 'read' }], expect.stringContaining('GREETING=hello')]);
    const again = await answered(whole.call('read_file', { path }), { decision: 'deny' });
    expect(codeOf(again.answer)).toBe('denied_by_human');
    await watching.close();
  });
});

describe('without containment', () => {
  const NAMESPACE = 'readlink /proc/self/ns/pid';
  const ours = readlinkSync('/proc/self/ns/pid');

  test('docker ps', async () => {
    const why = 'the socket of the container service gives the rights of its owner';
    const text = await fromQuestionToSuccess({
      command: `docker ps && ${NAMESPACE}`,
      opens: [{ type: 'uncontained', why }],
      says: 'my-container',
    });
    expect(text).toContain(ours);
  });

  test.skipIf(!works('sudo', '-n', 'true'))('sudo -n true', async () => {
    const why = 'containment never gives privileges';
    await fromQuestionToSuccess({ command: `sudo -n true && ${NAMESPACE}`, opens: [{ type: 'uncontained', why }], says: ours });
  });
});
