import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readGitConfig } from './git-config-file.ts';
import { isHarmlessGitConfig } from './git-config-harmless.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-git-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What git itself reads, or undefined where it refuses the file. */
function byGit(text: string): readonly string[] | undefined {
  const file = join(folder, 'config');
  writeFileSync(file, text);
  try {
    const out = execFileSync('git', ['config', '-f', file, '--list', '-z'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    return out.split('\0').filter((one) => one !== '');
  } catch {
    return undefined;
  }
}

const FILES: readonly string[] = [
  '[core]\n\tbare = false\n\tfilemode=true\n[remote "origin"]\n\turl = https://example.org/x.git\n',
  '[user]\nname = "A \\"quoted\\" B"  \n email = a@b # comment\n',
  '[a]\nk = one \\\n  two\n',
  '# a comment ends with a backslash \\\n[core]\n\tfsmonitor = evil\n',
  '[core] fsmonitor = evil ; same line\n',
  '\uFEFF[core]\nfsmonitor = evil\n',
  '[core]\r\n\tpager = evil\r\n',
  '[CORE]\nPAGER=x\n[Sub "CaSe"]\nKey\n',
  '[a "b\\\\c\\"d"]\nk = v\n',
  '[a]\nk = "x ; y" ; z\nl = a"b c"d\nm = \n',
  '[a]\n\tk = tab\\there\\n\n',
  '[alias]\nx = "!sh -c \'echo\'"\n',
];

describe('the reader', () => {
  it.each(FILES.map((text) => [JSON.stringify(text), text]))('reads %s as git does', (_, text) => {
    const { settings, understood } = readGitConfig(text);
    const mine = settings.map(
      ({ section, subsection, key, value }) => `${section}${subsection === undefined ? '' : `.${subsection}`}.${key}\n${value}`,
    );
    expect(understood).toBe(true);
    // git lists a key without a value as the bare name; here it is "true", which is what it means.
    expect(byGit(text)?.map((one) => (one.includes('\n') ? one : `${one}\ntrue`))).toEqual(mine);
  });

  it.each(['[core\nx = 1\n', '[a]\nk = "open\n', '[a]\nk = \\q\n', 'k = v\n', '[a]\n= v\n', '[a]\nk ; c\n'])(
    'does not claim to understand %j',
    (text) => {
      expect(readGitConfig(text).understood).toBe(false);
    },
  );
});

describe('a configuration that a new repository may keep', () => {
  it('is what git init, clone, submodules and worktrees write', () => {
    expect(
      isHarmlessGitConfig(
        '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n[remote "origin"]\n\turl = git@example.org:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[submodule "x"]\n\tactive = true\n\turl = /srv/git/x\n',
      ),
    ).toBe(true);
    expect(isHarmlessGitConfig('')).toBe(true);
  });

  it.each([
    '[core]\nfsmonitor = ./x\n',
    '[core]\nhooksPath = x\n',
    '[core]\nsshCommand = x\n',
    '[include]\npath = x\n',
    '[includeIf "gitdir:/"]\npath = x\n',
    '[alias]\nst = !x\n',
    '[filter "lfs"]\nclean = x\n',
    '[remote "o"]\nurl = ext::sh -c x\n',
    '[remote "o"]\nuploadpack = x\n',
    '[submodule "x"]\nupdate = !x\n',
    '# \\\n[core]\nfsmonitor = x\n',
    '\uFEFF[core]\nfsmonitor = x\n',
    '[core]\nbare = false\n[',
  ])('is not %j', (text) => {
    expect(isHarmlessGitConfig(text)).toBe(false);
  });
});
