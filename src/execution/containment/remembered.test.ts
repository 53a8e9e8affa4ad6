import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SandboxPlan } from '../core-types.ts';
import { createPlanner } from './planner.ts';
import { createRemembered } from './remembered.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
beforeEach(() => {
  bed = makeBed();
});
afterEach(() => bed.remove());

describe('plans of a machine that changes', () => {
  /** All of a plan, in an order that doesn't depend on what was known before. */
  const contents = ({ args, watch, links, expect: expected, notes, env, repositories, drop }: SandboxPlan) => ({
    args: [...args].toSorted(),
    watch: [...watch].toSorted(),
    links,
    expect: [...(expected ?? [])].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    notes: [...notes].toSorted(),
    env,
    trees: repositories?.map(({ work_trees, bare }) => [[...work_trees].toSorted(), [...bare].toSorted()]),
    drop,
  });

  const swap = (path: string, target: string): void => {
    rmSync(path, { recursive: true });
    symlinkSync(target, path);
  };
  const renew = (path: string): void => {
    renameSync(path, `${path}-old`);
    mkdirSync(path);
  };

  /** What somebody does between two runs, in this order. `ws`, `home`: the Workspace and the person's home. */
  const changes: readonly (readonly [what: string, change: (ws: string, home: string, kept: SandboxPlan) => void])[] = [
    ['a protected folder appears', (ws) => mkdirSync(join(ws, '.vscode'))],
    ['it is swapped for a link', (ws) => swap(join(ws, '.vscode'), 'src')],
    ['the target of that link appears', (ws) => mkdirSync(join(ws, 'src'))],
    ['the link is pointed elsewhere', (ws) => swap(join(ws, '.vscode'), 'lib')],
    ['a repository appears', (ws) => mkdirSync(join(ws, '.git/hooks'), { recursive: true })],
    ['its configuration names hooks', (ws) => writeFileSync(join(ws, '.git/config'), '[core]\n\thooksPath = .husky\n')],
    ['these hooks appear', (ws) => mkdirSync(join(ws, '.husky'))],
    ['the folder of hooks is another one', (ws) => renew(join(ws, '.git/hooks'))],
    [
      'the configuration names others, in as many letters',
      (ws) => writeFileSync(join(ws, '.git/config'), '[core]\n\thooksPath = .huski\n'),
    ],
    ['a nested repository appears', (ws) => mkdirSync(join(ws, 'src/deep/er/.git'), { recursive: true })],
    [
      'a bare one appears',
      (ws) => {
        for (const path of ['store/objects', 'store/refs', 'store/HEAD']) mkdirSync(join(ws, path), { recursive: true });
      },
    ],
    ['the repository is moved aside', (ws) => renameSync(join(ws, '.git'), join(ws, '.git-old'))],
    ['the git folder becomes a pointer', (ws) => writeFileSync(join(ws, '.git'), 'gitdir: .git-old\n')],
    [
      'a mount point in the private home becomes a link',
      (_ws, home, { private_home }) => {
        swap(join(private_home, '.cargo'), join(home, '.ssh'));
      },
    ],
    ['the private home is closed', (_ws, _home, { private_home }) => chmodSync(private_home, 0)],
    ['the private folder of scratch files goes', (_ws, _home, { private_tmp }) => rmSync(private_tmp, { recursive: true })],
    ['a tool chain gets another part', (_ws, home) => mkdirSync(join(home, '.cargo/registry'))],
    ['everybody may write to it', (_ws, home) => chmodSync(join(home, '.cargo/bin'), 0o777)],
    ['it becomes a link to secrets', (_ws, home) => swap(join(home, '.cargo/bin'), '../.ssh')],
    ['the person gets a name', (_ws, home) => writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Ada\n')],
    ['the person gets another name of that length', (_ws, home) => writeFileSync(join(home, '.gitconfig'), '[user]\n\tname = Bea\n')],
    [
      'the generated files are gone',
      (_ws, _home, { private_home }) => rmSync(join(dirname(private_home), 'generated'), { recursive: true }),
    ],
    ['the workspace is another folder', (ws) => renew(ws)],
    ['the workspace is a link', (ws) => swap(ws, `${ws}-old`)],
  ];

  it('are what somebody who has never looked before would plan, and the same as before while nothing changes', async () => {
    for (const path of ['.cargo/bin', '.ssh', 'bin']) bed.folder(join(bed.user_home, path));
    const host_env = { ...bed.config.host_env, PATH: `${bed.user_home}/.cargo/bin:${bed.user_home}/bin:/usr/bin` };
    const config = { ...bed.config, host_env };
    const plan = createPlanner(config);
    const kept = async (): Promise<SandboxPlan> => {
      // Folders and files that are as young as a tick of the file system's clock are not relied on yet.
      const both = await vi.waitUntil(async () => {
        const [one, other] = [await plan(bed.spec()), await plan({ ...bed.spec({ command: 'ls' }), ...{ action: 'another' } })];
        return one === other ? { one } : undefined;
      }, 5_000);
      return both.one;
    };
    for (const [what, change] of changes) {
      const before = await kept();
      change(bed.workspace, bed.user_home, before);
      const now = await plan(bed.spec()).then(contents, (error: Error) => error.message);
      const fresh = await createPlanner(config)(bed.spec()).then(contents, (error: Error) => error.message);
      expect(now, what).toEqual(fresh);
      if (typeof fresh === 'string') return expect(what).toBe('the workspace is a link');
    }
  });

  it('start where they are asked to, whatever was planned before', async () => {
    const plan = createPlanner(bed.config);
    const there = bed.folder(join(bed.workspace, 'sub'));
    const [first, second] = [await plan(bed.spec()), await plan(bed.spec({ cwd: there }))];
    expect([first.cwd, second.cwd]).toEqual([bed.workspace, there]);
    expect([first.args.slice(-2), second.args.slice(-2)]).toEqual([
      ['--chdir', bed.workspace],
      ['--chdir', there],
    ]);
    expect(second.key).toBe(first.key);
  });
});

it.each(['git-layout', 'guards', 'person', 'reach', 'repositories', 'toolchains'])('%s takes no look that is not noted', (file) => {
  expect(readFileSync(join(import.meta.dirname, `${file}.ts`), 'utf8')).not.toContain("from './look.ts'");
});

describe('what was gathered', () => {
  const later = async (): Promise<void> => {
    const made = Date.now();
    await vi.waitUntil(() => Date.now() - made > 60, { interval: 5 });
  };

  it('is given again only while each look finds the same', async () => {
    const file = bed.file('work/app/a/note', 'one');
    await later();
    const remembered = createRemembered<object>();
    const get = () =>
      remembered('key', [], (looks) => ({ said: looks.readSmall(file), gone: looks.kindOf(join(bed.workspace, 'a/other')) }));
    const first = get();
    expect(get()).toBe(first);
    writeFileSync(file, 'two');
    expect(get()).toEqual({ said: 'two', gone: 'absent' });
    await later();
    const third = get();
    expect(get()).toBe(third);
    symlinkSync(file, join(bed.workspace, 'a/other'));
    expect(get()).toEqual({ said: 'two', gone: 'link' });
  });

  it('is not given for other facts, and not where a look could not be told from a later one', async () => {
    const remembered = createRemembered<object>();
    const [a, b] = [{}, {}];
    const get = (fact: object) => remembered('key', [fact], () => ({}));
    const first = get(a);
    expect(get(a)).toBe(first);
    expect(get(b)).not.toBe(first);

    const fresh = bed.file('work/app/fresh', 'one');
    const read = () => remembered('fresh', [], (looks) => ({ said: looks.readSmall(fresh) }));
    expect(read()).not.toBe(read());
  });

  it('follows each link on the way to a real path', async () => {
    bed.folder('work/app/one/x');
    bed.folder('work/app/two/x');
    symlinkSync('hop', join(bed.workspace, 'way'));
    symlinkSync('one', join(bed.workspace, 'hop'));
    const remembered = createRemembered<{ readonly real: string | undefined }>();
    const get = () => remembered('key', [], (looks) => ({ real: looks.realPath(join(bed.workspace, 'way/x')) }));
    const first = get();
    expect([first.real, get() === first]).toEqual([join(bed.workspace, 'one/x'), true]);
    rmSync(join(bed.workspace, 'hop'));
    symlinkSync('two', join(bed.workspace, 'hop'));
    expect(get().real).toBe(join(bed.workspace, 'two/x'));
  });
});
