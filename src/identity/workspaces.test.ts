import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readProcess } from '../kernel/config/index.ts';
import { findGitRoot, resolveWorkspaces, type WorkspaceRequest } from './index.ts';
import { unfitPlace } from './places.ts';

const { uid, is_root } = readProcess();
let base = '';
let home = '';
let app = '';
let writ_home = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-ws-')));
  home = join(base, 'dev');
  app = join(home, 'app');
  writ_home = join(home, '.writ');
  for (const folder of [
    join(app, '.git'),
    join(app, 'src/deep'),
    join(home, 'other'),
    writ_home,
    join(home, '.ssh/keys'),
    join(home, '.config/nvim'),
  ]) {
    mkdirSync(folder, { recursive: true });
  }
  writeFileSync(join(app, '.git/HEAD'), 'ref: refs/heads/main\n');
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

function resolve(request: Partial<Pick<WorkspaceRequest, 'roots_flag' | 'client_roots'>> & { cwd?: string | undefined }) {
  const cwd = 'cwd' in request ? request.cwd : join(app, 'src/deep');
  const { roots_flag = [], client_roots = [] } = request;
  return resolveWorkspaces({ roots_flag, client_roots, facts: { cwd, uid, user: { name: 'dev', home, shell: undefined } }, writ_home });
}
const paths = (request: Parameters<typeof resolve>[0]): string[] => {
  const result = resolve(request);
  if (!result.ok) throw new Error(result.message);
  return result.workspaces.map((workspace) => workspace.path);
};
const refusal = (request: Parameters<typeof resolve>[0]): string => {
  const result = resolve(request);
  if (result.ok) throw new Error(`accepted ${JSON.stringify(result.workspaces)}`);
  expect(result.fix).toMatch(/^Name the folder in the MCP configuration: "args": \["mcp", "--root", "\//);
  return result.message;
};

describe('the choice', () => {
  test('--root, else the roots of the client, else the git root of where it was started', () => {
    const other = join(home, 'other');
    expect(resolve({ roots_flag: [other], client_roots: [app] })).toEqual({
      ok: true,
      workspaces: [{ path: other, access: 'write' }],
      from: 'flag',
      warnings: [],
    });
    expect(resolve({ client_roots: [pathToFileURL(other).href] })).toMatchObject({ workspaces: [{ path: other }], from: 'client' });
    expect(resolve({})).toEqual({ ok: true, workspaces: [{ path: app, access: 'write' }], from: 'git', warnings: [] });
  });

  test('without any of them is refused with the line to paste', () => {
    const other = join(home, 'other');
    expect(resolve({ cwd: other })).toEqual({
      ok: false,
      message: `No --root was given, the client named no roots, and ${other} is not in a git repository, so it is not clear where to work.`,
      fix: `Name the folder in the MCP configuration: "args": ["mcp", "--root", ${JSON.stringify(other)}]`,
    });
    expect(refusal({ cwd: home })).toMatch(/not in a git repository/);
    expect(refusal({ cwd: undefined })).toMatch(/no longer exists/);
    expect(refusal({ cwd: join(base, 'gone') })).toMatch(/not in a git repository/);
  });

  test('one wrong --root refuses all; a wrong root of the client is left out, and said', () => {
    expect(refusal({ roots_flag: [app, join(base, 'gone')] })).toMatch(/gone" can't be a workspace: it does not exist/);
    expect(resolve({ client_roots: [join(base, 'gone'), app] })).toMatchObject({
      ok: true,
      workspaces: [{ path: app }],
      warnings: [expect.stringMatching(/gone".*does not exist/)],
    });
    expect(refusal({ client_roots: ['/', home] })).toMatch(/None of the client's roots.*whole machine.*home folder/);
  });
});

describe('a root', () => {
  test('is resolved through links, and judged where it leads', () => {
    symlinkSync(app, join(base, 'link'));
    symlinkSync(home, join(app, 'up'));
    symlinkSync('/etc', join(app, 'etc'));
    symlinkSync(join(base, 'b'), join(base, 'a'));
    symlinkSync(join(base, 'a'), join(base, 'b'));
    expect(paths({ roots_flag: [join(base, 'link')] })).toEqual([app]);
    expect(paths({ roots_flag: [join(base, 'link/src')] })).toEqual([join(app, 'src')]);
    expect(refusal({ roots_flag: [join(app, 'up')] })).toMatch(/it is your whole home folder/);
    expect(refusal({ roots_flag: [join(app, 'etc')] })).toMatch(/it is \/etc, and it belongs to the operating system/);
    expect(refusal({ roots_flag: [join(base, 'a')] })).toMatch(/circle/);
  });

  test('may be relative to where Writ was started, never to a home', () => {
    expect(paths({ roots_flag: ['..'] })).toEqual([join(app, 'src')]);
    expect(paths({ roots_flag: ['.'], cwd: app })).toEqual([app]);
    expect(refusal({ roots_flag: ['~/app'] })).toMatch(/not expanded/);
    expect(refusal({ roots_flag: [''] })).toMatch(/no path/);
    expect(refusal({ roots_flag: ['a\0b'] })).toMatch(/no path/);
  });

  test('as an address is decoded as an address', () => {
    const odd = join(home, 'a b#c%d');
    mkdirSync(odd);
    expect(paths({ client_roots: [pathToFileURL(odd).href] })).toEqual([odd]);
    expect(paths({ client_roots: [`file://localhost${app}`] })).toEqual([app]);
    expect(paths({ client_roots: [`file://${app}/src/../src`] })).toEqual([join(app, 'src')]);
    for (const bad of [`file://evil.example${app}`, `file://${app}%2Fsrc`, `file://${app}%00`, `https://x${app}`, 'vscode-remote://x/y']) {
      expect(refusal({ client_roots: [bad] })).toMatch(/no local file:\/\/ address|no path/);
    }
  });

  test("that is a file, or can't be opened, is refused with the reason", () => {
    writeFileSync(join(app, 'file'), '');
    expect(refusal({ roots_flag: [join(app, 'file')] })).toMatch(/it is not a folder/);
    expect(refusal({ roots_flag: [join(app, 'file/below')] })).toMatch(/a part of it is not a folder/);
  });

  test.runIf(!is_root)('in a closed folder is refused with the reason', () => {
    mkdirSync(join(base, 'closed/in'), { recursive: true });
    chmodSync(join(base, 'closed'), 0);
    expect(refusal({ roots_flag: [join(base, 'closed/in')] })).toMatch(/may not open it/);
    chmodSync(join(base, 'closed'), 0o700);
  });

  test('inside another is merged into it, in the earlier place', () => {
    const [src, deep, other] = [join(app, 'src'), join(app, 'src/deep'), join(home, 'other')];
    expect(paths({ roots_flag: [app, app, `${app}/`] })).toEqual([app]);
    expect(paths({ roots_flag: [deep, other, app, src] })).toEqual([app, other]);
    mkdirSync(join(home, 'app-two'));
    expect(paths({ roots_flag: [app, join(home, 'app-two')] })).toEqual([app, join(home, 'app-two')]);
  });

  test('is one of at most 32', () => {
    const many = Array.from({ length: 33 }, (_, index) => join(home, `p${index}`));
    for (const path of many) mkdirSync(path);
    expect(resolve({ roots_flag: many })).toMatchObject({ ok: false, message: expect.stringContaining('at most 32') });
    expect(paths({ client_roots: many })).toHaveLength(32);
  });
});

describe('a place that is never a workspace', () => {
  const around = { user_home: '/home/dev', writ_home: '/home/dev/.writ' };
  test.each([
    '/',
    '/home',
    '/home/dev',
    '/home/other',
    '/root',
    '/etc',
    '/etc/nginx',
    '/usr',
    '/usr/lib/node_modules',
    '/usr/src',
    '/var',
    '/var/lib/docker/volumes',
    '/var/www',
    '/proc/1',
    '/sys',
    '/dev/shm/x',
    '/run/user/1000',
    '/boot',
    '/bin',
    '/tmp',
    '/opt',
    '/srv',
    '/mnt',
    '/home/dev/.writ',
    '/home/dev/.writ/jobs',
    '/home/dev/.ssh',
    '/home/dev/.aws/x',
    '/home/dev/.config',
    '/home/dev/.config/gh',
    '/home/dev/.local/share',
    '/home/dev/.cache',
  ])('%s', (path) => expect(unfitPlace(path, around)).toEqual(expect.any(String)));

  test.each([
    '/home/dev/app',
    '/home/dev/.config/nvim',
    '/home/dev/.dotfiles',
    '/home/other/shared',
    '/workspace',
    '/app',
    '/data/x',
    '/usr/src/app',
    '/usr/local/src/x',
    '/var/www/site',
    '/var/tmp/x',
    '/var/lib/jenkins/workspace/job',
    '/tmp/x',
    '/opt/x',
    '/srv/git/x',
    '/mnt/disk/x',
    '/etcetera',
    '/users',
    '/root/project',
  ])('but %s may be one', (path) => expect(unfitPlace(path, around)).toBeUndefined());

  test('is whatever holds the Writ home, wherever that is', () => {
    expect(unfitPlace('/data', { user_home: '/home/dev', writ_home: '/data/writ' })).toMatch(/holds the Writ home/);
    expect(unfitPlace('/data/writ', { user_home: '/home/dev', writ_home: '/data/writ' })).toMatch(/holds the Writ home/);
    expect(unfitPlace('/data/writing', { user_home: '/home/dev', writ_home: '/data/writ' })).toBeUndefined();
  });

  test('stays one for a service user whose home is a system folder', () => {
    const service = { user_home: '/var/lib/ci', writ_home: '/var/lib/ci/.writ' };
    expect(unfitPlace('/var/lib/ci/job', service)).toBeUndefined();
    expect(unfitPlace('/var/lib/ci', service)).toEqual(expect.any(String));
    expect(unfitPlace('/var/lib/other', service)).toEqual(expect.any(String));
    expect(unfitPlace('/etc/x', { user_home: '/', writ_home: '/opt/writ' })).toEqual(expect.any(String));
  });
});

describe('the git root', () => {
  test('is found for repositories, linked worktrees and submodules, and nothing else', () => {
    expect(findGitRoot(join(app, 'src/deep'))).toBe(app);
    const tree = join(home, 'tree');
    mkdirSync(join(tree, 'a'), { recursive: true });
    expect(findGitRoot(join(tree, 'a'))).toBeUndefined();
    writeFileSync(join(tree, '.git'), `gitdir: ${app}/.git/worktrees/tree\n`);
    expect(findGitRoot(join(tree, 'a'))).toBe(tree);
    writeFileSync(join(tree, '.git'), 'something else');
    expect(findGitRoot(join(tree, 'a'))).toBeUndefined();
    mkdirSync(join(app, 'src/deep/.git'));
    expect(findGitRoot(join(app, 'src/deep'))).toBe(app);
  });

  test('that is the home or a shared folder is refused, with where it was started as the way out', () => {
    mkdirSync(join(home, '.git'));
    writeFileSync(join(home, '.git/HEAD'), 'x');
    const result = resolve({ cwd: join(home, 'other') });
    expect(result).toMatchObject({
      ok: false,
      message: expect.stringContaining('it is your whole home folder'),
      fix: expect.stringContaining(JSON.stringify(join(home, 'other'))),
    });
  });

  test.runIf(is_root)('that somebody else planted is passed over', () => {
    chownSync(join(app, '.git'), 1234, 1234);
    expect(findGitRoot(app, 5678)).toBeUndefined();
    expect(findGitRoot(app, 1234)).toBe(app);
    expect(findGitRoot(app, 0)).toBe(app);
  });
});
