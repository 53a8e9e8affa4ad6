import { cpSync, renameSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Attempt } from '../attempt.ts';
import { give } from '../files.ts';

/** A program that leaves a file outside when somebody else starts it. */
const EVIL = `printf '#!/bin/sh\\ntouch "%s/pwned"\\n' "$OUT" > "$WORK/evil"; chmod +x "$WORK/evil"`;

/** Leaving something behind that runs later, outside: after each run a person works with git in the Workspace. */
export const PERSISTENCE: readonly Attempt[] = [
  {
    id: 'a git hook',
    script: `${EVIL}; cp evil .git/hooks/pre-commit; mv evil .git/hooks/post-checkout`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'a git hook in a .git that takes the place of the moved one',
    script: `${EVIL}; mv .git .git-old && cp -r .git-old .git && cp evil .git/hooks/pre-commit; exit 0`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['pinned parents'],
  },
  {
    id: 'fsmonitor in the git configuration',
    script: `${EVIL}; git config core.fsmonitor "$WORK/evil"; printf '[core]\\n\\tfsmonitor = %s/evil\\n' "$WORK" >> .git/config`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'hooksPath in a git configuration put in its place',
    script: `${EVIL}; mkdir hooks; cp evil hooks/pre-commit; git config -f new core.hooksPath "$WORK/hooks"; mv -f new .git/config`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'a git hook of a nested repository',
    script: `${EVIL}; cp evil packages/inner/.git/hooks/pre-commit`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'a nested repository moved with its parents',
    script: `${EVIL}; mv packages old && cp -r old packages && cp evil packages/inner/.git/hooks/pre-commit; exit 0`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['pinned parents'],
  },
  {
    id: 'a new repository with a hook',
    script: `${EVIL}; mkdir fresh; cp -r .git fresh/.git; cp evil fresh/.git/hooks/pre-commit; git -C fresh config core.fsmonitor "$WORK/evil"`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a .git file that points to a planted folder',
    script: `${EVIL}; cp -r .git store; cp evil store/hooks/pre-commit; mkdir fresh; echo "gitdir: $WORK/store" > fresh/.git`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a .git link to a planted folder',
    script: `${EVIL}; cp -r .git store; cp evil store/hooks/pre-commit; mkdir fresh; ln -s ../store fresh/.git`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'commondir, which makes git look elsewhere',
    script: `${EVIL}; cp -r .git store; cp evil store/hooks/pre-commit; echo ../store > .git/commondir`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a new repository in a folder that can’t be listed',
    script: `${EVIL}; mkdir fresh; cp -r .git fresh/.git; cp evil fresh/.git/hooks/pre-commit; chmod 111 fresh`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a bare repository that a folder of the workspace becomes',
    script: `${EVIL}; mkdir fresh; cp -r .git/. fresh/; rm -rf fresh/config
      printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = %s/evil\\n' "$WORK" > fresh/config`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a submodule whose folder was planted',
    script: `${EVIL}; mkdir -p .git/modules fresh; cp -r packages/inner/.git .git/modules/lib; cp evil .git/modules/lib/hooks/pre-commit
      git config -f .git/modules/lib/config core.worktree ../../../fresh; echo 'gitdir: ../.git/modules/lib' > fresh/.git`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a linked worktree whose common folder is a planted one',
    script: `${EVIL}; cp -r .git store; cp evil store/hooks/pre-commit; mkdir -p .git/worktrees/fresh fresh; echo ../../../store > .git/worktrees/fresh/commondir
      cp .git/HEAD .git/worktrees/fresh/HEAD; echo "$WORK/fresh/.git" > .git/worktrees/fresh/gitdir; echo 'gitdir: ../.git/worktrees/fresh' > fresh/.git`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'the configuration of a bare repository that was there',
    script: `${EVIL}; cp evil mirror/hooks/pre-commit; git config -f mirror/config core.worktree .; git config -f mirror/config core.bare false
      git config -f mirror/config core.fsmonitor "$WORK/evil"; mv mirror old && cp -r old mirror && cp evil mirror/hooks/pre-commit; exit 0`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['read-only guards'],
    prepare({ workspace, outside, file }) {
      cpSync(join(workspace, '.git'), join(workspace, 'mirror'), { recursive: true });
      give(join(workspace, 'mirror'), outside.drop);
      file('mirror/config', '[core]\n\trepositoryformatversion = 0\n\tbare = true\n');
    },
  },
  {
    id: 'a new repository deep down',
    script: `${EVIL}; mkdir -p a/b/c/d/e/f/g; cp -r .git a/b/c/d/e/f/g/.git; cp evil a/b/c/d/e/f/g/.git/hooks/pre-commit; ln -s a/b/c/d/e/f/g fresh`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a new repository behind a thousand folders',
    script: `${EVIL}; mkdir many many/{1..1100}; mkdir -p many/500/x; cp -r .git many/500/x/.git; cp evil many/500/x/.git/hooks/pre-commit; ln -s many/500/x fresh`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'agent settings, overwritten',
    script: 'echo planted > .claude/settings.json; echo planted > .claude/settings.local.json; echo planted > .mcp.json; rm -f .goosehints',
    proof: 'planted',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'agent settings, by renaming their folder',
    script: 'mv .claude old && mkdir .claude && echo planted > .claude/settings.json; exit 0',
    proof: 'planted',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'agent settings, by renaming over them',
    script: 'echo planted > new; mv -f new .mcp.json; ln -f notes.txt .goosehints',
    proof: 'planted',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'editor tasks that were not there',
    script:
      'mkdir -p .vscode .idea; echo planted > .vscode/tasks.json; echo planted > .idea/workspace.xml; echo planted > .envrc; echo planted > writ.json',
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'agent settings of a folder below, overwritten',
    script: 'echo planted > packages/app/.claude/settings.json; echo planted > packages/app/.mcp.json; rm -rf packages/app/.claude/*',
    proof: 'planted',
    stopped_by: ['read-only guards'],
  },
  {
    id: 'agent settings of a folder below, moved with their parents',
    script: 'mv packages/app old && cp -r old packages/app && echo planted > packages/app/.claude/settings.json; exit 0',
    proof: 'planted',
    stopped_by: ['pinned parents'],
  },
  {
    id: 'agent settings and editor tasks of folders below that had none',
    script:
      'mkdir -p packages/{web/.vscode,new/.claude}; for F in web/.mcp.json web/.vscode/tasks.json web/.envrc new/.claude/settings.json; do echo planted > packages/$F; done',
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'agent settings of a folder below that is made a repository for them',
    script:
      'mv packages/web old; mkdir packages/web; cp -r .git packages/web/.git; cp -r .git packages/app/.git; for F in web/.mcp.json app/.envrc; do echo planted > packages/$F; done',
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'agent settings behind a thousand folders',
    script: 'mkdir many many/{1..1100}; mkdir -p many/500/x; echo planted > many/500/x/.mcp.json',
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'editor tasks in folders that can’t be moved',
    script: 'mkdir .vscode; echo planted > .vscode/tasks.json; chmod 500 .vscode; echo planted > .envrc; chmod 500 "$WORK"',
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a hook in folders that can’t be looked into',
    script: `${EVIL}; mkdir fresh; cp -r .git fresh/.git; cp evil fresh/.git/hooks/pre-commit; chmod 311 fresh/.git/hooks; chmod 100 fresh; chmod 300 "$WORK"`,
    afterwards: 'git',
    proof: 'outside',
    stopped_by: ['quarantine'],
  },
  {
    id: 'agent settings as a link to a writable folder',
    script: 'mkdir mine; echo planted > mine/mcp.json; ln -s mine .cursor; ln -s "$OUT" .vscode',
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a protected link pointed elsewhere',
    script: 'rm .envrc; echo planted > mine; ln -s mine .envrc',
    proof: 'planted',
    stopped_by: ['links put back'],
    prepare: ({ workspace }) => symlinkSync('tools/envrc', join(workspace, '.envrc')),
  },
  {
    id: 'what a protected link points to',
    script: 'echo planted > tools/envrc; mv tools old; mkdir tools; echo planted > tools/envrc',
    proof: 'planted',
    stopped_by: ['read-only guards'],
    prepare: ({ workspace }) => symlinkSync('tools/envrc', join(workspace, '.envrc')),
  },
  {
    id: 'a parent swapped for a link while things are cleared away',
    script: `${EVIL}; mkdir -p fresh/.git/hooks; cp -r .git/. fresh/.git/; cp evil fresh/.git/hooks/pre-commit
      rm -rf fresh/.git/hooks; ln -s "$OUT" fresh/.git/hooks; ln -s "$OUT" fresh2; mkdir .vscode; ln -s "$OUT" .vscode/out`,
    proof: 'planted',
    stopped_by: ['quarantine'],
  },
  {
    id: 'a workspace swapped for a link between planning and start',
    script: 'cat secret; echo planted > new',
    proof: 'secret',
    stopped_by: ['look at the mounts'],
    ends: 'never_started',
    // The move of another run, which has the folder above as its Workspace.
    spec: ({ workspace }) => ({ cwd: join(workspace, 'tools'), workspaces: [{ path: join(workspace, 'tools'), access: 'write' }] }),
    between(plan, { workspace, out }) {
      renameSync(join(workspace, 'tools'), join(workspace, 'moved'));
      symlinkSync(out, join(workspace, 'tools'));
      return plan;
    },
  },
  {
    id: 'the working folder swapped for a link',
    script: 'cat secret; pwd -P',
    proof: 'secret',
    stopped_by: ['private /tmp'],
    spec: ({ workspace }) => ({ cwd: join(workspace, 'tools') }),
    ends: 'never_started',
    between(plan, { workspace, out }) {
      renameSync(join(workspace, 'tools'), join(workspace, 'moved'));
      symlinkSync(out, join(workspace, 'tools'));
      return plan;
    },
  },
];
