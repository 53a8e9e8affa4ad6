import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { assessCommand } from '../policy/index.ts';
import type { Opening } from '../policy/types.ts';
import { withRemotes } from './git-remotes.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-remotes-'));
  mkdirSync(join(folder, 'app/.git'), { recursive: true });
  mkdirSync(join(folder, 'app/src'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const configure = (text: string): void => writeFileSync(join(folder, 'app/.git/config'), text);

function opened(command: string, at = 'app/src'): readonly Opening[] {
  const cwd = join(folder, at);
  const facts = { realpath: (path: string) => path, which: () => undefined };
  const assessment = assessCommand(command, { cwd, home: '/home/dev', workspaces: [join(folder, 'app')], facts });
  return withRemotes(assessment, cwd).findings.flatMap(({ opens }) => (opens?.type === 'hosts' ? [opens] : []));
}
const GIT: Opening = { type: 'hosts', hosts: [], presets: ['git'] };
const hosts = (...named: readonly string[]): Opening => ({ type: 'hosts', hosts: named, presets: [] });

it('a push opens the hosts of the remotes', () => {
  configure(
    '[core]\n\turl = https://not.a.remote/\n[remote "origin"]\n\turl = git@git.corp.example:team/app.git\n\tfetch = x\n[Remote "other"]\n\turl = "https://user@code.example.org:8443/app"\n\tpushurl = https://git.corp.example/app\n[branch "main"]\n\turl = https://nor.this.one/\n',
  );
  expect(opened('git push origin main')).toEqual([hosts('git.corp.example', 'code.example.org:8443')]);
  expect(opened('git fetch')).toEqual([hosts('git.corp.example', 'code.example.org:8443')]);
});

it('a host in the words of the command stays what it is', () => {
  configure('[remote "origin"]\n\turl = https://git.corp.example/app\n');
  expect(opened('git clone https://example.org/x.git')).toEqual([{ type: 'hosts', hosts: ['example.org'], presets: [] }]);
  expect(opened('npm ci')).toEqual([{ type: 'hosts', hosts: [], presets: ['npm'] }]);
});

it('nothing to go by leaves the preset', () => {
  expect(opened('git push')).toEqual([GIT]);
  configure('[remote "origin"]\n\turl = ../upstream.git\n[remote "file"]\n\turl = file:///srv/x.git\n');
  expect(opened('git push')).toEqual([GIT]);
  configure(Array.from({ length: 9 }, (_, n) => `[remote "r${n}"]\n\turl = https://h${n}.example/\n`).join(''));
  expect(opened('git push')).toEqual([GIT]);
  rmSync(join(folder, 'app/.git/config'));
  execFileSync('mkfifo', [join(folder, 'app/.git/config')]);
  expect(opened('git push')).toEqual([GIT]);
});

it('a linked work tree and a submodule have the configuration of their repository', () => {
  configure('[remote "origin"]\n\turl = https://git.corp.example/app\n');
  mkdirSync(join(folder, 'app/.git/worktrees/two'), { recursive: true });
  mkdirSync(join(folder, 'two'));
  writeFileSync(join(folder, 'app/.git/worktrees/two/commondir'), '../..\n');
  writeFileSync(join(folder, 'two/.git'), `gitdir: ${join(folder, 'app/.git/worktrees/two')}\n`);
  expect(opened('git push', 'two')).toEqual([hosts('git.corp.example')]);
});
