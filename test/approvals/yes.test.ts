import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Bed } from '../../src/execution/containment/testing.ts';
import { publishForNpm, publishForPip, publishGlobal, type Site } from '../../src/execution/network/testing-site.ts';
import type { GateAnswer } from '../../src/gate/types.ts';
import type { Opening } from '../../src/policy/types.ts';
import { CREDENTIALS } from './git-server.ts';
import { codeOf, has, hasOutside, hosts, openScene, preset, type Scene, textOf, works } from './scene.ts';
import type { Whole } from './whole.ts';

/**
 * A yes opens exactly what its card shows, and what it was said to then really works: from the question to success, through gate,
 * store, tools and sandbox as they are composed for an agent. Only the names of the network are the test's.
 */

let scene: Scene;
let bed: Bed;
let site: Site;
let whole: Whole;
let outside: string;
beforeAll(async () => {
  scene = await openScene({ names: ['registry.npmjs.org', 'pypi.org', 'files.pythonhosted.org'] });
  ({ bed, site, whole, outside } = scene);
});
afterAll(() => scene.close());

const shell = (command: string): Promise<GateAnswer> => scene.shell(command);
const answered: Scene['answered'] = (call, reply) => scene.answered(call, reply);
const fromQuestionToSuccess: Scene['fromQuestionToSuccess'] = (way) => scene.fromQuestionToSuccess(way);

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

  test.skipIf(!has('npm'))('npm install -g, into the HOME of this Workspace', async () => {
    publishGlobal(site, bed.folder('global'));
    await fromQuestionToSuccess({
      command: 'npm install -g --cafile ca.pem --no-audit left-cli && left-cli',
      opens: preset('npm'),
      says: 'left is here',
    });
    // It stays, and whatever else is found there comes after the programs of the system.
    expect(textOf(await shell('left-cli'))).toContain('left is here');
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

  test.skipIf(!hasOutside)('a file outside, replaced by what was put in its place', async () => {
    const path = join(outside, 'replaced.txt');
    bed.file(path, 'old\n');
    await fromQuestionToSuccess({
      command: `sed -i s/old/new/ ${path} && echo moved > moved && mv moved ${path}.2 && cat ${path}`,
      opens: [path, `${path}.2`].map((one) => ({ type: 'path', path: one, access: 'write' })),
      says: 'new\n',
    });
    expect([readFileSync(path, 'utf8'), readFileSync(`${path}.2`, 'utf8')]).toEqual(['new\n', 'moved\n']);
  });

  test.skipIf(!has('git'))('the configuration of git of the person', async () => {
    const path = bed.file('people/dev/.gitconfig', '[alias]\n\tst = status\n');
    const name = 'git config --global user.name "A Person"';
    await fromQuestionToSuccess({
      command: `${name} && git config --global alias.st && git config user.name`,
      opens: [{ type: 'path', path, access: 'write' }],
      says: 'status\nA Person\n',
    });
    expect(readFileSync(path, 'utf8')).toBe('[alias]\n\tst = status\n[user]\n\tname = A Person\n');
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

test('what was read outside taints the Run that reads it later, from a command or a job', async () => {
  const origin = `file:${join(bed.user_home, '.aws/credentials')}`;
  const watching = whole.approvals.attend('page');
  await watching.ready;
  const command = 'cat ~/.aws/credentials';
  const read = await answered(shell(`${command} # now`), { decision: 'approve' });
  const job = await answered(whole.call('shell', { command, background: true }), { decision: 'approve' });
  await watching.close();
  const resultOf = ({ answer }: typeof read, key: string): unknown => (answer.type === 'result' ? answer.output.structured[key] : answer);
  for (const [tool, run, args] of [
    ['shell_output', 'run_2', { id: resultOf(read, 'output_id') }],
    ['job_output', 'run_3', { job_id: resultOf(job, 'job_id'), wait_ms: 20_000 }],
  ] as const) {
    expect(await whole.taints.originsOf(run)).toEqual([]);
    expect(textOf(await whole.call(tool, args, run))).toContain('the secret that was asked for');
    expect(await whole.taints.originsOf(run)).toContain(origin);
  }
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
