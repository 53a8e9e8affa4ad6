import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { quarantineAppeared } from './quarantine.ts';
import { createRemembered } from './remembered.ts';
import { createRepositoryFinder } from './repositories.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
let folder: string;
beforeEach(() => {
  bed = makeBed();
  folder = bed.folder('run');
});
afterEach(() => bed.remove());

/** Plans, lets a script run, and looks afterwards. Paths relative to the workspace. */
async function appeared(script: string, more: { git_config_write?: boolean } = {}): Promise<readonly string[]> {
  const plan = await bed.plan(more);
  const { stderr } = await bed.run(script, more);
  expect(stderr.replace(/^hint:.*$/gm, '').trim()).toBe('');
  const moved = quarantineAppeared(plan, folder);
  for (const { path, moved_to } of moved) {
    expect(existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined).toBe(false);
    expect(lstatSync(moved_to)).toBeDefined();
  }
  return moved.map(({ path }) => path.slice(bed.workspace.length + 1)).toSorted();
}

const git = (cwd: string, ...args: string[]): void => {
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@e', ...args], {
    cwd,
    stdio: 'ignore',
    env: { PATH: '/usr/bin:/bin', HOME: bed.base },
  });
};

describe('what appears during a run', () => {
  it('is moved away when it is configuration that others obey', async () => {
    expect(
      await appeared('mkdir .claude .vscode; echo {} > .claude/settings.json; echo {} > .mcp.json; echo x > .envrc; echo ok > code.ts'),
    ).toEqual(['.claude', '.envrc', '.mcp.json', '.vscode']);
    expect(existsSync(join(bed.workspace, 'code.ts'))).toBe(true);
    const kept = readdirSync(join(folder, 'quarantine'), { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.claude/settings.json'),
    );
    expect(kept).toHaveLength(1);
  });

  it('stays when it is a repository as git makes it', async () => {
    expect(
      await appeared('git init -q; git init -q packages/new; git remote add origin https://example.org/x.git', { git_config_write: true }),
    ).toEqual([]);
    git(bed.workspace, 'status');
  });

  it('loses hooks, programs in its configuration and other ways round', async () => {
    expect(
      await appeared(
        'git init -q; echo x > .git/hooks/pre-commit; echo ../evil > .git/commondir; printf "[core]\\n\\tfsmonitor = ./evil\\n" > .git/config; git init -q a/b && echo x > a/b/.git/hooks/post-commit; mkdir c; echo "gitdir: ../evil" > c/.git',
      ),
    ).toEqual(['.git/commondir', '.git/config', '.git/hooks/pre-commit', 'a/b/.git/hooks/post-commit', 'c/.git']);
  });

  it('is a .git file or link where no repository was', async () => {
    expect(await appeared('mkdir evil; echo "gitdir: evil" > .git')).toEqual(['.git']);
    rmSync(join(bed.workspace, 'evil'), { recursive: true });
    expect(await appeared('git init -q evil; ln -s evil/.git .git')).toEqual(['.git']);
  });

  it('stays when git added a submodule or a worktree of the repository', async () => {
    git(bed.workspace, 'init', '-q');
    git(bed.workspace, 'commit', '-q', '--allow-empty', '-m', 'x');
    expect(await appeared('git worktree add -q side -b side', { git_config_write: true })).toEqual([]);
    git(join(bed.workspace, 'side'), 'status');
  });

  it('is reported once, and nothing else is touched the second time', async () => {
    const plan = await bed.plan();
    bed.file('work/app/.mcp.json');
    expect(quarantineAppeared(plan, folder)).toHaveLength(1);
    expect(quarantineAppeared(plan, folder)).toHaveLength(0);
  });

  it('may have any number of the same name', async () => {
    const plan = await bed.plan();
    const places = new Set<string>();
    for (let round = 0; round < 3; round++) {
      bed.file('work/app/.mcp.json', String(round));
      const [moved] = quarantineAppeared(plan, folder);
      expect(readFileSync(moved?.moved_to ?? '', 'utf8')).toBe(String(round));
      places.add(moved?.moved_to ?? '');
    }
    expect(places.size).toBe(3);
  });

  it('is not followed where a parent became a link meanwhile', async () => {
    git(bed.folder('work/app/sub'), 'init', '-q', '--template=');
    const plan = await bed.plan();
    expect(plan.watch).toContain(join(bed.workspace, 'sub/.git/hooks'));
    const victim = bed.folder('victim');
    mkdirSync(join(victim, '.git/hooks'), { recursive: true });
    writeFileSync(join(victim, '.git/hooks/pre-commit'), 'mine');
    rmSync(join(bed.workspace, 'sub'), { recursive: true });
    symlinkSync(victim, join(bed.workspace, 'sub'));
    quarantineAppeared(plan, folder);
    expect(readFileSync(join(victim, '.git/hooks/pre-commit'), 'utf8')).toBe('mine');
  });
});

describe('settings of agents and editors that appear below', () => {
  it('are moved away where there was a folder, and in a new one of the same project', async () => {
    bed.file('work/app/packages/web/index.ts');
    git(bed.workspace, 'init', '-q');
    expect(
      await appeared(
        'mkdir -p packages/{web,new/deep}/.vscode; echo x | tee packages/web/.mcp.json packages/{web,new/deep}/.vscode/tasks.json',
      ),
    ).toEqual(['packages/new/deep/.vscode', 'packages/web/.mcp.json', 'packages/web/.vscode']);
    expect(existsSync(join(bed.workspace, 'packages/new/deep'))).toBe(true);
  });

  it('stay in a repository that the run made in a folder of its own: a clone keeps what it brings', async () => {
    git(bed.folder('origin'), 'init', '-q');
    bed.file('origin/.vscode/settings.json');
    bed.file('origin/sub/.mcp.json');
    git(join(bed.base, 'origin'), 'add', '.');
    git(join(bed.base, 'origin'), 'commit', '-q', '-m', 'x');
    git(bed.base, 'clone', '-q', '--bare', 'origin', 'work/app/mirror.git');
    expect(await appeared('git clone -q mirror.git packages/clone', { git_config_write: true })).toEqual([]);
    expect(await appeared('test -e packages/clone/sub/.mcp.json; echo x > packages/clone/.envrc; git -C packages/clone status -s')).toEqual(
      ['packages/clone/.envrc'],
    );
  });

  it.each([
    ['a folder that was there', 'git init -q packages/web', ['packages/web']],
    ['a folder in the place of one that was there', 'mv packages/web old; git init -q packages/web', ['packages/web']],
    ['the folder above', 'git init -q packages; mkdir packages/new', ['packages/new', 'packages/web']],
    ['what only looks like one', 'mkdir -p packages/web/.git other/.git', ['other', 'packages/web']],
  ])('are not kept by making a repository of %s', async (_of, script, folders) => {
    bed.file('work/app/packages/web/index.ts');
    const moved = await appeared(`${script}; echo x | tee ${folders.map((folder) => `${folder}/.envrc`).join(' ')}`);
    expect(moved.filter((path) => path.endsWith('.envrc'))).toEqual(folders.map((folder) => `${folder}/.envrc`));
  });

  it('stay in packages that a package manager installs', async () => {
    expect(
      await appeared('mkdir -p {,packages/web/}node_modules/x/.vscode; echo x | tee {,packages/web/}node_modules/x/.vscode/a'),
    ).toEqual([]);
  });

  it('are moved away however many folders the run made', async () => {
    expect(await appeared('mkdir {1..1100}; mkdir 500/x; echo x > 500/x/.mcp.json')).toEqual(['500/x/.mcp.json']);
  });

  it('stay in a Workspace that is too large to be looked through, unless their folder had been looked into', async () => {
    for (let i = 0; i < 1100; i++) bed.folder(`work/app/${i}`);
    const { folders } = createRepositoryFinder()(bed.workspace);
    const [seen, unseen] = [true, false].map((was) =>
      readdirSync(bed.workspace).find((name) => folders.has(join(bed.workspace, name)) === was),
    );
    bed.file(`work/app/${unseen}/.mcp.json`);
    // With fewer folders the look afterwards gets to those that it had not come to before.
    const gone = [...folders].slice(-300).filter((path) => path !== join(bed.workspace, seen ?? ''));
    expect(await appeared(`rmdir ${gone.join(' ')}; echo x > ${seen}/.mcp.json`)).toEqual([`${seen}/.mcp.json`]);
    expect(existsSync(join(bed.workspace, `${unseen}/.mcp.json`))).toBe(true);
  });
});

it('puts a protected link back that was changed', async () => {
  bed.file('work/app/config/claude/settings.json', '{}');
  symlinkSync('config/claude', join(bed.workspace, '.claude'));
  expect(await appeared('true')).toEqual([]);
  const plan = await bed.plan();
  await bed.run('rm .claude && mkdir .claude && echo evil > .claude/settings.json; echo x 2>/dev/null > config/claude/settings.json');
  expect(quarantineAppeared(plan, folder).map(({ path }) => path)).toEqual([join(bed.workspace, '.claude')]);
  expect(readlinkSync(join(bed.workspace, '.claude'))).toBe('config/claude');
  expect(readFileSync(join(bed.workspace, '.claude/settings.json'), 'utf8')).toBe('{}');
});

it('is found after each run, however often there was nothing to be found before', async () => {
  git(bed.workspace, 'init', '-q');
  git(bed.workspace, 'init', '-q', 'sub/nested');
  symlinkSync('settings', join(bed.workspace, '.vscode'));
  const plan = await bed.plan();
  const find = createRepositoryFinder();
  const inspected = createRemembered<ReturnType<typeof quarantineAppeared>>();
  const inspect = () => inspected(plan.key, [], (looks) => quarantineAppeared(plan, folder, find, looks));
  const plants: readonly (readonly [path: string, plant: (path: string) => unknown])[] = [
    ['.envrc', (path) => writeFileSync(path, 'x')],
    ['.git/commondir', (path) => writeFileSync(path, '../evil')],
    ['sub/nested/.git/config.worktree', (path) => writeFileSync(path, '[core]\n\tfsmonitor = ./evil\n')],
    ['sub/new/.git', (path) => writeFileSync(bed.file(path), 'gitdir: ../evil')],
    ['.envrc', (path) => symlinkSync('elsewhere', path)],
    ['.vscode', (path) => [rmSync(path), mkdirSync(path)]],
  ];
  for (const [path, plant] of plants) {
    await vi.waitUntil(() => {
      const [one, other] = [inspect(), inspect()];
      return one.length === 0 && one === other;
    }, 5_000);
    plant(join(bed.workspace, path));
    expect(inspect().map((one) => one.path)).toEqual([join(bed.workspace, path)]);
  }
});
