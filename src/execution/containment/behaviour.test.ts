import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bed, isRoot, makeBed } from './testing.ts';

let bed: Bed;
beforeEach(() => {
  bed = makeBed();
});
afterEach(() => bed.remove());

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always', ...args], {
    cwd,
    env: { PATH: '/usr/bin:/bin', HOME: bed.base, GIT_CONFIG_NOSYSTEM: '1' },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
function repository(path: string): string {
  const folder = bed.folder(path);
  git(folder, 'init', '-q', '-b', 'main');
  git(folder, 'commit', '-q', '--allow-empty', '-m', 'first');
  return folder;
}

describe('what a run sees', () => {
  it('has an empty HOME at the usual place, and neither the real home nor the Writ home', async () => {
    const { stdout, exit_code } = await bed.run('echo "$HOME"; ls -A ~; cat ~/secret.txt ~/.writ/key 2>&1');
    expect(exit_code).not.toBe(0);
    expect(stdout).toContain(`${bed.user_home}\n`);
    expect(stdout).not.toContain('the secret');
    expect(stdout.match(/No such file/g)).toHaveLength(2);
  });

  it('keeps HOME and TMPDIR from run to run, for this workspace alone', async () => {
    await bed.run('echo kept > ~/note; echo kept > $TMPDIR/note');
    const { private_home, private_tmp } = await bed.plan();
    expect([readFileSync(join(private_home, 'note'), 'utf8'), readFileSync(join(private_tmp, 'note'), 'utf8')]).toEqual([
      'kept\n',
      'kept\n',
    ]);
    expect((await bed.run('cat ~/note /tmp/note')).stdout).toBe('kept\nkept\n');
    const other = bed.folder('work/other');
    expect((await bed.run('ls -A ~ /tmp/note', { workspaces: [{ path: other, access: 'write' }] })).stdout).not.toContain('note');
  });

  it('has no shadow, no keys, no sockets, no host processes', async () => {
    const { stdout } = await bed.run(
      'ls /etc/shadow /etc/sudoers /etc/ssl/private /etc/machine-id /run/* /var/run/docker.sock /sys/fs 2>/dev/null; ls -d /etc/ssh/ssh_host* 2>/dev/null; ls /proc | grep -c "^[0-9]"',
    );
    expect(stdout.trim().split('\n')).toHaveLength(1);
    expect(Number(stdout)).toBeLessThan(6);
  });

  it('has users, names, certificates and the time zone as tools expect them', async () => {
    const { stdout } = await bed.run(
      'whoami; id -un; getent passwd root | cut -d: -f1; getent hosts localhost | wc -l; [ -w /dev/shm ] && echo shm',
    );
    expect(stdout.split('\n').slice(2)).toEqual(['root', '1', 'shm', '']);
  });

  it('has exactly the listed environment', async () => {
    const { stdout } = await bed.run(
      'env -0 | tr "\\0" "\\n" | grep -aE "TOKEN|PRELOAD|NODE_OPT|BASH_ENV|^MINE|^LANG|^TERM|^COLUMNS"; tr "\\0" "\\n" < /proc/1/environ | grep -ac TOKEN',
      {},
      {
        host_env: {
          ...bed.config.host_env,
          TOKEN: 's',
          LD_PRELOAD: '/x.so',
          NODE_OPTIONS: '-r x',
          BASH_ENV: '/x',
          MINE: 'yes',
          LANG: 'C.UTF-8',
        },
        env_pass: ['MINE', 'LD_PRELOAD', 'BASH_ENV'],
      },
    );
    expect(stdout.trim().split('\n').toSorted()).toEqual(['0', 'COLUMNS=120', 'LANG=C.UTF-8', 'MINE=yes', 'TERM=xterm-256color']);
  });

  it('reaches nothing: host loopback, abstract sockets', async () => {
    const server = createServer((socket) => socket.end('leak'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const { stdout, exit_code } = await bed.run(`cat < /dev/tcp/127.0.0.1/${port}`);
    server.close();
    expect({ stdout, exit_code }).toEqual({ stdout: '', exit_code: 1 });
  });
});

describe('what a run may write', () => {
  it('is the workspace, HOME, TMPDIR and shared memory, and nothing else', async () => {
    const places = [
      '/',
      '/etc/',
      '/usr/',
      '/opt/',
      '/dev/',
      '/run/',
      '/var/',
      '/var/lib/',
      '/home/',
      '/sys/',
      '/proc/',
      './',
      '~/',
      '/tmp/',
      '/var/tmp/',
      '/dev/shm/',
    ];
    const { stdout } = await bed.run(
      places.map((place) => `{ : > ${place}probe; } 2>/dev/null && echo ${place.replace('~', 'home')}`).join('\n'),
    );
    expect(stdout.trim().split('\n')).toEqual(['./', 'home/', '/tmp/', '/var/tmp/', '/dev/shm/']);
    expect(existsSync(join(bed.workspace, 'probe'))).toBe(true);
  });

  it('is not a workspace that was given for reading', async () => {
    const library = bed.folder('work/library');
    const { stdout } = await bed.run(`{ : > ${library}/x; } 2>&1; : > mine; ls`, {
      workspaces: [
        { path: bed.workspace, access: 'write' },
        { path: library, access: 'read' },
      ],
    });
    expect(stdout).toContain('Read-only file system');
    expect(stdout).toContain('mine');
  });

  it('is not the reading workspace inside of a writing one, repositories in it included', async () => {
    const library = repository('work/app/lib/inner');
    const folder = join(bed.workspace, 'lib');
    await bed.run(`: > ${folder}/x; : > ${library}/x; : > ${library}/.git/x; mv ${folder} ${folder}2; : > ok`, {
      workspaces: [
        { path: bed.workspace, access: 'write' },
        { path: folder, access: 'read' },
      ],
    });
    expect(
      [`${folder}/x`, `${library}/x`, `${library}/.git/x`, `${folder}2`, `${bed.workspace}/ok`].map((path) => existsSync(path)),
    ).toEqual([false, false, false, false, true]);
  });

  it('is a path that was opened, and nothing beside it', async () => {
    const opened = bed.file('people/dev/notes/todo.txt', 'before');
    bed.file('people/dev/notes/diary.txt', 'private');
    const { stdout } = await bed.run(`ls ~/notes; echo after > ~/notes/todo.txt`, { openings: [{ path: opened, access: 'write' }] });
    expect(stdout).toBe('todo.txt\n');
    expect(readFileSync(opened, 'utf8')).toBe('after\n');
    const both = (['write', 'read'] as const).map((access) => ({ path: opened, access }));
    await bed.run('echo more >> ~/notes/todo.txt', { openings: both });
    expect(readFileSync(opened, 'utf8')).toBe('after\nmore\n');
  });

  it('belongs to the owner of the workspace', async () => {
    await bed.run(': > made');
    expect(statSync(join(bed.workspace, 'made')).uid).toBe(statSync(bed.workspace).uid);
  });
});

describe('protected paths', () => {
  it('can be read and neither written, replaced nor moved with their parents', async () => {
    repository('work/app');
    bed.file('work/app/.git/hooks/pre-commit', '#!/bin/sh\n', 0o755);
    bed.file('work/app/.claude/settings.json', '{}');
    bed.file('work/app/.mcp.json', '{}');
    const { stdout } = await bed.run(`
      try() { if eval "$1" 2>/dev/null; then echo "done: $1"; else echo refused; fi; }
      try 'echo x > .git/hooks/post-commit'
      try 'rm .git/hooks/pre-commit'
      try 'mv .git .git2'
      try 'rm -r .git/hooks'
      try 'echo x > .git/config'
      try 'git config core.fsmonitor /tmp/x'
      try 'echo x > .claude/settings.json'
      try 'mv .claude .c'
      try 'mv .mcp.json m'
      try 'cp .mcp.json /tmp/m && mv /tmp/m .mcp.json'
      try 'ln .mcp.json m'
      cat .mcp.json`);
    expect(stdout.trim().split('\n').slice(0, 11)).toEqual(Array.from({ length: 11 }, () => 'refused'));
    expect(stdout).toContain('{}');
  });

  it('of nested repositories are among them', async () => {
    repository('work/app');
    repository('work/app/packages/inner');
    const { stdout } = await bed.run(
      'echo x > packages/inner/.git/hooks/post-commit || echo refused; mv packages packages2 || echo refused; mv packages/inner packages/i || echo refused',
    );
    expect(stdout).toBe('refused\nrefused\nrefused\n');
  });

  it('of folders below are among them, and new folders beside them change nothing about the plan', async () => {
    bed.file('work/app/packages/web/.mcp.json', '{}');
    const { key, notes } = await bed.plan();
    const { stdout } = await bed.run(
      'mkdir packages/new; echo x > packages/web/.mcp.json || echo refused; mv packages/web packages/w || echo refused; echo x > packages/web/a && echo ok',
    );
    expect(stdout).toBe('refused\nrefused\nok\n');
    expect(await bed.plan()).toMatchObject({ key, notes });
    // A clone brings as many as it likes: those of the person's own project are guarded before them.
    repository('work/app/many');
    for (let i = 0; i < 300; i++) bed.file(`work/app/many/${i}/.envrc`);
    bed.file('work/app/packages/web/deep/down/.idea/x');
    const plan = await bed.plan();
    expect(plan.notes.at(-1)).toBe(`${bed.workspace} holds 302 settings of agents and editors in folders below; 256 of them are read-only`);
    const guarded = plan.args.filter((one) => /\.(envrc|mcp\.json|idea)$/.test(one));
    expect(guarded).toHaveLength(2 * 256);
    expect(guarded).toContain(join(bed.workspace, 'packages/web/deep/down/.idea'));
  });

  it('that are absent leave nothing in the workspace', async () => {
    await bed.run('true');
    expect((await bed.run('ls -A')).stdout).toBe('');
    expect(existsSync(join(bed.workspace, '.git'))).toBe(false);
  });

  it('named by the repository configuration are among them', async () => {
    repository('work/app');
    git(bed.workspace, 'config', 'core.hooksPath', 'tools/hooks');
    git(bed.workspace, 'config', 'include.path', '../shared.gitconfig');
    bed.file('work/app/tools/hooks/pre-commit', '');
    bed.file('work/app/shared.gitconfig', '');
    const { stdout } = await bed.run(
      'echo x > tools/hooks/pre-commit || echo refused; mv tools t || echo refused; echo x > shared.gitconfig || echo refused',
    );
    expect(stdout).toBe('refused\nrefused\nrefused\n');
  });

  it('open for git configuration with hooks off', async () => {
    repository('work/app');
    bed.file('work/app/.git/hooks/post-checkout', '#!/bin/sh\necho hook ran >&2\n', 0o755);
    const { stdout, stderr } = await bed.run(
      'git remote add origin https://example.org/x.git && git checkout -q -b b && git remote; echo x > .git/hooks/h',
      {
        git_config_write: true,
      },
    );
    expect(stdout).toBe('origin\n');
    expect(stderr).not.toContain('hook ran');
    expect(existsSync(join(bed.workspace, '.git/hooks/h'))).toBe(false);
  });
});

describe('git', () => {
  it('commits, switches, stashes and collects garbage, with hooks, as the person', async () => {
    repository('work/app');
    bed.file('people/dev/.gitconfig', '[user]\n name = Dev Eloper\n email = dev@example.org\n[core]\n pager = evil\n[alias]\n x = !evil\n');
    bed.file('work/app/.git/hooks/pre-commit', '#!/bin/sh\necho hook ran\n', 0o755);
    if (isRoot) bed.give(bed.workspace, 0);
    const { stdout, stderr, exit_code } = await bed.run(
      'set -e; echo 1 > f; git add f; git commit -qm one; git switch -qc b; echo 2 > f; git stash -q; git stash pop -q; git gc -q; git log -1 --format="%an %ae"; git config alias.x || true',
    );
    expect({ stdout, exit_code }).toEqual({ stdout: 'Dev Eloper dev@example.org\n', exit_code: 0 });
    expect(stderr).toContain('hook ran');
  });

  it('commits in a linked worktree whose repository lies elsewhere, without showing that work tree', async () => {
    const main = repository('elsewhere/main');
    bed.file('elsewhere/main/private.txt', 'private');
    rmSync(bed.workspace, { recursive: true });
    git(main, 'worktree', 'add', '-q', bed.workspace, '-b', 'side');
    const { stdout, stderr } = await bed.run(
      `echo 1 > f; git add f && git -c user.name=A -c user.email=a@b commit -qm side && git log -1 --format=%s; ls ${main}; echo x > ${main}/.git/hooks/post-commit; echo 'gitdir: /tmp' > .git`,
    );
    expect(stdout).toBe('side\n');
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(git(main, 'log', '-1', '--format=%s', 'side').trim()).toBe('side');
  });

  it('follows no .git file that points to a folder which does not point back', async () => {
    bed.folder('people/dev/.ssh');
    bed.file('people/dev/.ssh/id', 'the secret of the home');
    bed.file('work/app/.git', `gitdir: ${bed.user_home}/.ssh\n`);
    const plan = await bed.plan();
    expect(plan.args.filter((option) => option.includes('.ssh/'))).toEqual([]);
    expect(plan.args).not.toContain(`${bed.user_home}/.ssh`);
    expect(plan.notes.join()).toContain('points outside');
  });

  it('follows no .git file that points to somebody else’s worktree', async () => {
    const main = repository('elsewhere/main');
    git(main, 'worktree', 'add', '-q', join(bed.base, 'elsewhere/side'), '-b', 'side');
    bed.file('work/app/.git', `gitdir: ${main}/.git/worktrees/side\n`);
    const plan = await bed.plan();
    expect(plan.args).not.toContain(`${main}/.git`);
    expect(plan.notes.join()).toContain('points outside');
  });

  it('commits in a submodule, whose hooks are protected in the git folder of the whole', async () => {
    const library = repository('elsewhere/library');
    repository('work/app');
    git(bed.workspace, 'submodule', 'add', '-q', library, 'lib');
    const { stdout, stderr } = await bed.run(
      'cd lib; echo 1 > f; git add f && git -c user.name=A -c user.email=a@b commit -qm sub && git log -1 --format=%s; echo x > ../.git/modules/lib/hooks/post-commit; mv ../.git/modules ../.git/m',
    );
    expect(stdout).toBe('sub\n');
    expect(stderr).toContain('Read-only file system');
    expect(stderr).toContain('Device or resource busy');
  });

  it('commits in a workspace that is itself a submodule', async () => {
    const library = repository('elsewhere/library');
    const whole = repository('elsewhere/whole');
    git(whole, 'submodule', 'add', '-q', library, 'lib');
    const sub = join(whole, 'lib');
    const { stdout } = await bed.run(
      `echo 1 > f; git add f && git -c user.name=A -c user.email=a@b commit -qm sub && git log -1 --format=%s; ls ${whole}`,
      { workspaces: [{ path: sub, access: 'write' }] },
    );
    expect(stdout.split('\n')).toEqual(['sub', 'lib', '']);
  });
});

describe('workspaces', () => {
  it('may lie in the home, which stays hidden around them', async () => {
    const inside = bed.folder('people/dev/src/app');
    bed.file('people/dev/src/other/secret.txt', 'private');
    const { stdout } = await bed.run('pwd; ls ~ ~/src; echo 1 > ~/src/app/f; mv ~/src ~/s 2>&1', {
      workspaces: [{ path: inside, access: 'write' }],
    });
    expect(stdout).toContain(`${inside}\n`);
    expect(stdout).not.toContain('other');
    expect(stdout).toContain('Device or resource busy');
    expect(existsSync(join(inside, 'f'))).toBe(true);
  });

  it('are two where two are given', async () => {
    const second = bed.folder('work/second');
    await bed.run(`echo 1 > a; echo 2 > ${second}/b`, {
      workspaces: [
        { path: bed.workspace, access: 'write' },
        { path: second, access: 'write' },
      ],
    });
    expect([existsSync(join(bed.workspace, 'a')), existsSync(join(second, 'b'))]).toEqual([true, true]);
  });

  it('are refused as links, and named by what they link to', async () => {
    const link = join(bed.base, 'link');
    symlinkSync(bed.workspace, link);
    await expect(bed.plan({ workspaces: [{ path: link, access: 'write' }] })).rejects.toMatchObject({
      code: 'workspace_unavailable',
      fix: `Use --root ${bed.workspace}`,
    });
  });

  it('hold a cwd given through a link inside', async () => {
    bed.folder('work/app/real');
    symlinkSync('real', join(bed.workspace, 'link'));
    expect((await bed.run('pwd -P', { cwd: join(bed.workspace, 'link') })).stdout).toBe(`${bed.workspace}/real\n`);
  });

  it.each([
    ['an outside folder', '/usr'],
    ['a link that leads outside', 'out'],
    ['nothing', 'absent'],
  ])('do not hold a cwd that is %s', async (_, cwd) => {
    symlinkSync('/usr', join(bed.workspace, 'out'));
    await expect(bed.plan({ cwd: cwd.startsWith('/') ? cwd : join(bed.workspace, cwd) })).rejects.toMatchObject({
      code: 'invalid_arguments',
    });
  });

  it.each(['', '.writ', '.writ/sub', '..'])('are not the home, the Writ home or what holds them (%s)', async (below) => {
    const path = bed.folder(join(bed.user_home, below));
    await expect(bed.plan({ workspaces: [{ path, access: 'write' }] })).rejects.toMatchObject({ code: 'workspace_unavailable' });
  });

  it.each(['/', '/usr', '/etc', '/tmp', '/home', '/proc/self', '/usr/lib'])('are not the system (%s)', async (path) => {
    await expect(bed.plan({ cwd: path, workspaces: [{ path, access: 'read' }] })).rejects.toMatchObject({ code: 'workspace_unavailable' });
  });
});

describe.runIf(isRoot)('as root', () => {
  it('maps a workspace of root to an ordinary user without powers over the host', async () => {
    const plan = await bed.plan();
    expect(plan.drop).toBeUndefined();
    expect(plan.dimensions.uid?.state).toBe('not_enforced');
    const { stdout } = await bed.run(
      'id -u; { : >> /proc/sys/vm/swappiness; } 2>/dev/null || echo refused; { : >> /proc/sysrq-trigger; } 2>/dev/null || echo refused; mount -t tmpfs none /mnt 2>/dev/null || echo refused; : > f',
    );
    expect(stdout).toBe('1000\nrefused\nrefused\nrefused\n');
    expect(statSync(join(bed.workspace, 'f')).uid).toBe(0);
  });

  it('becomes the owner of anybody else’s workspace, whose private folders it reaches', async () => {
    repository('work/app');
    bed.give(bed.workspace, 65534);
    const plan = await bed.plan();
    expect(plan.drop).toEqual({ uid: 65534, gid: 65534 });
    expect(plan.dimensions.uid?.state).toBe('enforced');
    const { stdout, stderr } = await bed.run(
      'id -u; echo 1 > f; git add f; git -c user.name=A -c user.email=a@b commit -qm x; git log --format=%s -1; echo 1 > ~/f && echo 2 > /tmp/f && echo wrote; : > .git/hooks/x',
    );
    expect(stdout).toBe('65534\nx\nwrote\n');
    expect(stderr).toContain('Read-only file system');
    expect(statSync(join(bed.workspace, 'f')).uid).toBe(65534);
  });

  it('says so where the owner cannot reach the workspace', async () => {
    bed.give(bed.workspace, 65534);
    chmodSync(join(bed.base, 'work'), 0o700);
    await expect(bed.plan()).rejects.toMatchObject({ code: 'workspace_unavailable', message: expect.stringContaining("can't reach") });
  });
});

describe('a place where a mount goes', () => {
  it('is not followed where an earlier run left a link', async () => {
    const inside = bed.folder('people/dev/src/app');
    const workspaces = [{ path: inside, access: 'write' as const }];
    const target = bed.folder('elsewhere');
    await bed.run(`true`, { workspaces });
    const before = await bed.plan({ workspaces });
    rmSync(join(before.private_home, 'src'), { recursive: true });
    symlinkSync(target, join(before.private_home, 'src'));
    const { stdout } = await bed.run('echo 1 > f; ls ~/src; test -L ~/src || echo folder', { workspaces });
    expect(stdout).toBe('app\nfolder\n');
    expect(existsSync(join(target, 'app'))).toBe(false);
  });
});
