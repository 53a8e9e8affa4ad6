import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Bed, makeBed } from './testing.ts';
import { gatherToolchains, type Toolchains } from './toolchains.ts';

let bed: Bed;
let home: string;
beforeEach(() => {
  bed = makeBed();
  home = bed.user_home;
});
afterEach(() => bed.remove());

function gather(host_env: Record<string, string>, reaches: (path: string) => boolean = () => true): Toolchains {
  return gatherToolchains({
    config: { host_env },
    persons: { writ_home: bed.config.home, user_home: home },
    workspaces: [{ path: bed.workspace, access: 'write' }],
    reaches,
    trusted_uids: [0, process.getuid?.() ?? 0],
  });
}
const bound = (found: Toolchains): readonly string[] => found.mounts.map(({ dest }) => dest.replace(home, '~')).toSorted();

it('keeps system entries and adds the standard ones', () => {
  expect(gather({ PATH: '/usr/bin:/usr/local/bin:/usr/bin' }).path).toEqual([
    '/usr/bin',
    '/usr/local/bin',
    '/usr/local/sbin',
    '/usr/sbin',
    '/sbin',
    '/bin',
  ]);
  expect(gather({}).path).toHaveLength(6);
});

it('binds the tree that a version manager keeps, and no more', () => {
  for (const path of [
    '.nvm/versions/node/v20/bin/node',
    '.nvm/versions/node/v20/lib/x',
    '.cargo/bin/cargo',
    '.cargo/registry/x',
    '.cargo/credentials.toml',
    '.rustup/settings.toml',
    '.pyenv/shims/python',
    '.local/bin/tool',
    '.local/lib/x',
    '.local/share/keyrings/k',
    '.local/share/uv/tools/t',
    '.local/share/uv/credentials/c',
    '.asdf/shims/x',
    '.tool-versions',
    'go/bin/gopls',
    'go/pkg/mod/m',
    'go/src/private',
    'sdk/go1.25.1/bin/go',
    'sdk/go1.25.1/pkg/tool/x',
  ]) {
    bed.file(join(home, path));
  }
  const names = ['.nvm/versions/node/v20/bin', '.cargo/bin', '.pyenv/shims', '.local/bin', '.asdf/shims', 'go/bin', 'sdk/go1.25.1/bin'];
  const found = gather({ PATH: names.map((name) => join(home, name)).join(':') });
  expect(bound(found)).toEqual([
    '~/.asdf',
    '~/.cargo/bin',
    '~/.cargo/registry',
    '~/.local/bin',
    '~/.local/lib',
    '~/.local/share/uv/tools',
    '~/.nvm/versions/node/v20',
    '~/.pyenv',
    '~/.rustup',
    '~/.tool-versions',
    '~/go/bin',
    '~/go/pkg/mod',
    '~/sdk/go1.25.1',
  ]);
  expect(found.env).toEqual({ RUSTUP_HOME: join(home, '.rustup') });
  expect(found.path.slice(0, names.length)).toEqual(names.map((name) => join(home, name)));
  expect(found.notes).toEqual([]);
});

it('lists what it refuses, with the reason', () => {
  bed.file(join(home, '.ssh/bin/x'));
  bed.file(join(home, '.writ/bin/x'));
  const open = bed.folder('open/bin');
  chmodSync(open, 0o777);
  const work = join(bed.base, 'work');
  const found = gather({
    PATH: ['relative', '/', home, join(home, '.ssh/bin'), join(home, '.writ/bin'), open, work, '/proc/self'].join(':'),
  });
  expect(found.mounts).toEqual([]);
  expect(found.path).toHaveLength(6);
  const why = [
    'not absolute',
    'two levels',
    'home folder',
    '.ssh',
    'Writ home',
    'everybody may write',
    'holds a workspace',
    'folders of its own',
  ];
  expect(found.notes).toHaveLength(why.length);
  for (const [index, reason] of why.entries()) expect(found.notes[index]).toContain(reason);
});

it('refuses what the user of the run cannot reach, since that would fail the whole run', () => {
  const folder = bed.folder(join(home, 'tools'));
  const found = gather({ PATH: folder }, () => false);
  expect([found.mounts, found.notes[0]]).toEqual([[], expect.stringContaining("can't reach")]);
});

it('uses what a link names, and leaves out absent entries without a word', () => {
  bed.file(join(home, '.local/share/fnm/node-versions/v22/installation/bin/node'));
  symlinkSync(join(home, '.local/share/fnm/node-versions/v22/installation'), join(bed.base, 'multishell'));
  const found = gather({ PATH: `${bed.base}/multishell/bin:${home}/absent` });
  expect(bound(found)).toEqual(['~/.local/share/fnm/node-versions/v22/installation']);
  expect(found.path[0]).toBe(join(home, '.local/share/fnm/node-versions/v22/installation/bin'));
  expect(found.notes).toEqual([]);
});

it('takes the Python behind a virtual environment, and believes one in a workspace only where it names a known tool chain', () => {
  bed.file(join(home, '.pyenv/versions/3.12/bin/python'));
  bed.file(join(home, 'private/bin/python'));
  bed.file(join(bed.workspace, '.venv/pyvenv.cfg'), `home = ${home}/.pyenv/versions/3.12/bin\n`);
  bed.folder(join(bed.workspace, '.venv/bin'));
  expect(bound(gather({ VIRTUAL_ENV: join(bed.workspace, '.venv') }))).toEqual(['~/.pyenv']);
  bed.file(join(bed.workspace, '.venv/pyvenv.cfg'), `home = ${home}/private/bin\n`);
  const forged = gather({ VIRTUAL_ENV: join(bed.workspace, '.venv'), PATH: join(bed.workspace, '.venv/bin') });
  expect(forged.mounts).toEqual([]);
  expect(forged.notes[0]).toContain('private/bin');
});

it('drops variables that would name nothing, and keeps those whose tool makes the folder', () => {
  const found = gather({
    JAVA_HOME: join(home, 'absent'),
    VIRTUAL_ENV: 'relative',
    GOPATH: join(home, 'go'),
    CARGO_HOME: '/elsewhere/cargo',
  });
  expect([...found.dropped].toSorted()).toEqual(['CARGO_HOME', 'JAVA_HOME', 'VIRTUAL_ENV']);
});

it('really runs: a made-up nvm tree, whose program reads its own library', async () => {
  bed.file(join(home, '.nvm/versions/node/v20/bin/tool'), '#!/bin/bash\ncat "$(dirname "$0")/../lib/text"\n', 0o755);
  bed.file(join(home, '.nvm/versions/node/v20/lib/text'), 'from the library\n');
  const host_env = { PATH: `${home}/.nvm/versions/node/v20/bin:/usr/bin:/bin`, USER: 'dev' };
  const { stdout, stderr } = await bed.run(
    'tool; command -v tool; : > ~/.nvm/versions/node/v20/x; : > ~/.nvm/mine && ls ~/.nvm',
    {},
    { host_env },
  );
  expect(stdout).toBe(`from the library\n${home}/.nvm/versions/node/v20/bin/tool\nmine\nversions\n`);
  expect(stderr).toContain('Read-only file system');
});
