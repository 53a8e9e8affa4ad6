import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { GENERATED_AT, generatedFiles } from './generated-files.ts';
import { readPerson } from './person.ts';
import { runAs } from './run-as.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
beforeEach(() => {
  bed = makeBed();
});
afterEach(() => bed.remove());

const home = (path: string, text: string): string => bed.file(join(bed.user_home, path), text);
const person = () => readPerson(bed.user_home, bed.workspace);
const files = (more: Partial<Parameters<typeof generatedFiles>[0]> = {}) =>
  generatedFiles({
    as: runAs({ self: { uid: 1000, gid: 1000 }, workspace: { uid: 1000, gid: 1000 } }),
    user_name: 'dev',
    home: '/home/dev',
    workspaces: ['/home/dev/app'],
    person: {},
    ...more,
  });

it('has a mount point for every file', () => {
  expect(Object.keys(files()).toSorted()).toEqual(Object.keys(GENERATED_AT).toSorted());
});

it('takes name, address and default branch of git, and no helper, alias, key or program', () => {
  home(
    '.gitconfig',
    '[user]\n name = Dev\n signingkey = ABC\n[credential]\n helper = store\n[alias]\n x = !evil\n[init]\n defaultBranch = trunk\n[include]\n path = .gitwork\n[core]\n sshCommand = evil\n',
  );
  home('.gitwork', '[user]\n email = dev@work.example\n');
  const { gitconfig } = files({ person: person() });
  expect(gitconfig).toContain('name = "Dev"');
  expect(gitconfig).toContain('email = "dev@work.example"');
  expect(gitconfig).toContain('defaultBranch = "trunk"');
  expect(gitconfig).not.toMatch(/helper|alias|evil|ABC|include/);
});

it('follows a conditional include for the workspaces it names', () => {
  home(
    '.gitconfig',
    `[user]\n email = home@e\n[includeIf "gitdir:${bed.base}/work/"]\n path = .a\n[includeIf "gitdir:/elsewhere/"]\n path = .b\n`,
  );
  home('.a', '[user]\n email = work@e\n');
  home('.b', '[user]\n email = other@e\n');
  expect(person().git_email).toBe('work@e');
});

it('does not loop on a file that includes itself, and does not wait on a pipe', () => {
  home('.gitconfig', '[include]\n path = .gitconfig\n[user]\n name = A\n');
  expect(person().git_name).toBe('A');
  execFileSync('mkfifo', [join(bed.user_home, '.npmrc')]);
  expect(person().npm_registries).toEqual([]);
});

it('keeps a hostile name inside its quotes', () => {
  const { gitconfig } = files({ person: { git_name: 'A"\n[core]\n\tfsmonitor = evil\\' } });
  const file = bed.file('gitconfig', gitconfig);
  const listed = execFileSync('git', ['config', '-f', file, '--list'], { encoding: 'utf8' });
  expect(listed).toContain('user.name=A" [core]  fsmonitor = evil\\');
  expect(listed).not.toMatch(/^core\./m);
});

it('takes registry addresses without credentials', () => {
  home(
    '.npmrc',
    '//registry.example/:_authToken=tok\n_auth=tok\nregistry=https://me:tok@registry.example/npm/?t=tok\n@scope:registry = https://scoped.example/\nscript-shell=evil\n',
  );
  home('.config/pip/pip.conf', '[global]\nindex-url = https://me:tok@pip.example/simple\nextra-index-url = https://tok@x/\n');
  const made = files({ person: person() });
  expect(made['npmrc']).toContain('registry=https://registry.example/npm/\n@scope:registry=https://scoped.example/\nfetch-retries=0');
  expect(made['pip.conf']).toContain('index-url = https://pip.example/simple');
  expect(JSON.stringify(made)).not.toMatch(/tok|evil/);
});

it('takes host keys of public forges only', () => {
  home('.ssh/known_hosts', 'github.com ssh-ed25519 AAAA\nsecret.internal ssh-ed25519 BBBB\n|1|hash|hash ssh-rsa CCCC\n');
  expect(files({ person: person() })['known_hosts']).toBe('github.com ssh-ed25519 AAAA\n');
});

it('names the run’s user, root and nobody, once each', () => {
  const names = (uid: number): readonly string[] => {
    const { passwd } = files({ as: runAs({ self: { uid, gid: uid }, workspace: { uid, gid: uid } }) });
    return (passwd ?? '')
      .trim()
      .split('\n')
      .map((line) => line.split(':').slice(0, 3).join(':'));
  };
  expect(names(1000)).toEqual(['root:x:0', 'dev:x:1000', 'nobody:x:65534']);
  expect(names(65534)).toEqual(['root:x:0', 'dev:x:65534']);
});
