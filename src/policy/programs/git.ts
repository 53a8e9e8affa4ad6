import { HOLE, isKnown, isUnknown } from '../text.ts';
import { all } from './define.ts';
import { apply, branch, checkout, clean, reflog, reset, restore, rm, stash, tag, updateRef, worktree } from './git-changes.ts';
import { bundle, checkoutIndex, formatPatch, init, move, readTree, symbolicRef } from './git-files.ts';
import { GLOBALS, OPTIONS, OVERRIDES } from './git-options.ts';
import { archive, clone, lfs, PULL, push, reaches, remote, submodule } from './git-remotes.ts';
import { bisect, diffReads, difftool, filterBranch, grep, kept, rebase, runsRest } from './git-runs.ts';
import { config, oneSetting, SAFE_KEY } from './git-settings.ts';
import { type GitVerb, hooks, loses, reads, writes } from './git-verb.ts';
import { readWords } from './options.ts';
import type { Call, Program } from './program.ts';

const VERBS: ReadonlyMap<string, GitVerb> = new Map<string, GitVerb>([
  ...'status log show rev-parse rev-list describe blame annotate shortlog ls-files ls-tree name-rev merge-base cherry show-ref for-each-ref count-objects var version help whatchanged check-ignore check-attr check-mailmap diff-tree diff-index diff-files verify-commit verify-tag fsck range-diff get-tar-commit-id stripspace column interpret-trailers show-branch fmt-merge-msg patch-id merge-tree rev-tree'
    .split(' ')
    .map((name) => [name, name === 'log' || name === 'show' || name === 'whatchanged' ? diffReads : reads] as const),
  ['diff', diffReads],
  ['cat-file', kept],
  [
    'hash-object',
    (call, words, args) => {
      for (const path of words.operands) call.read(path);
      writes(call, words, args);
    },
  ],
  ['grep', grep],
  ...'add update-index notes pack-refs repack prune-packed commit-graph multi-pack-index rerere sparse-checkout write-tree commit-tree mktag mktree unpack-objects index-pack pack-objects update-server-info mailinfo mailsplit fast-export'
    .split(' ')
    .map((name) => [name, writes] as const),
  ...'commit merge cherry-pick revert am fast-import'.split(' ').map((name) => [name, hooks] as const),
  ['mv', move],
  [
    'gc',
    (call, words, args) =>
      /^(now|all)$/.test(words.value('prune') ?? '') ? loses(call, 'removes commits that nothing points to') : writes(call, words, args),
  ],
  ['init', init],
  ['bundle', bundle],
  ['format-patch', formatPatch],
  ['checkout-index', checkoutIndex],
  ['read-tree', readTree],
  ['symbolic-ref', symbolicRef],
  ['replace', updateRef],
  ['checkout', checkout],
  ['switch', checkout],
  ['restore', restore],
  ['reset', reset],
  ['clean', clean],
  ['branch', branch],
  ['tag', tag],
  ['stash', stash],
  ['remote', remote],
  ['config', config],
  ['clone', clone],
  ['fetch', reaches(`git fetch ${PULL}`)],
  [
    'pull',
    (call, words, args) => {
      reaches(`git pull ${PULL}`)(call, words, args);
      hooks(call, words, args);
    },
  ],
  ['push', push],
  ['send-pack', reaches('git send-pack sends commits to another host')],
  ['http-push', reaches('git http-push sends commits to another host')],
  ['fetch-pack', reaches(`git fetch-pack ${PULL}`)],
  ['ls-remote', reaches('git ls-remote reaches another host')],
  ['submodule', submodule],
  ['subtree', reaches('git subtree may reach another host')],
  ['bisect', bisect],
  ['rebase', rebase],
  ['filter-branch', filterBranch],
  ['filter-repo', filterBranch],
  ['worktree', worktree],
  ['rm', rm],
  ['apply', apply],
  ['difftool', difftool],
  ['mergetool', difftool],
  ['archive', archive],
  ['reflog', reflog],
  ['update-ref', updateRef],
  ['prune', (call) => loses(call, 'removes commits that nothing points to')],
  ['lfs', lfs],
  ['credential', (call) => call.report('credential_access', 'shows stored credentials')],
  [
    'maintenance',
    (call, words, args) =>
      /^(start|register)$/.test(words.operands[0] ?? '') ? call.report('persistence', 'schedules work of git') : writes(call, words, args),
  ],
  ['hook', (call) => call.report('code_execution', 'runs a hook of the repository')],
  ['for-each-repo', runsRest(() => undefined, false)],
  ['daemon', (call) => call.report('code_execution', 'serves repositories')],
  ['instaweb', (call) => call.report('code_execution', 'starts a web server')],
  ['send-email', (call) => call.network('sends mail', [])],
  ['svn', reaches('git svn reaches another host')],
  ['p4', reaches('git p4 reaches another host')],
  ['upload-pack', (call) => call.report('code_execution', 'serves a repository')],
  ['shell', (call) => call.report('code_execution', 'opens a shell')],
]);

/** Verbs that may write `.git/config` and nothing that starts a program. */
export const CONFIG_WRITERS = new Set([
  'init',
  'clone',
  'remote',
  'branch',
  'push',
  'submodule',
  'worktree',
  'config',
  'checkout',
  'switch',
]);

export const git: Program = (call) => {
  const before = readWords(call.args, GLOBALS, true);
  let cwd = call.cwd;
  for (const { name, value, role } of before.options) {
    if (role === 'r' && value !== undefined) cwd = value.startsWith('/') ? [value] : cwd.map((base) => `${base}/${value}`);
    else if (name === 'c' && value !== undefined) oneSetting(call, value);
    else if (name === 'config-env') {
      const key = (value ?? HOLE).split('=')[0] ?? HOLE;
      if (!SAFE_KEY.test(key)) call.report('code_execution', `sets ${isKnown(key) ? key : 'a git option'} from a variable`);
    } else if (name === 'exec-path' && value !== undefined) call.report('code_execution', 'takes the programs of git from another folder');
    else if (name === 'work-tree' && value !== undefined) {
      call.report('code_execution', 'works on the files of another folder');
      cwd = value.startsWith('/') ? [value] : cwd.map((base) => `${base}/${value}`);
    } else if (name === 'git-dir' && value !== undefined)
      call.report('code_execution', 'takes configuration and hooks from another repository');
  }
  const at = before.at[0];
  if (at === undefined) return undefined;
  const verb = call.args[at] ?? '';
  const args = call.args.slice(at + 1);
  if (isUnknown(verb)) {
    call.report('unknown', 'which git command it is cannot be known from the text');
    return undefined;
  }
  const table = OVERRIDES.get(verb) ?? OPTIONS;
  const words = readWords(args, table);
  const act = VERBS.get(verb);
  const its: Call = cwd === call.cwd ? call : call.at(cwd);
  for (const { role, value } of words.options) {
    if (role === 'w' && value !== undefined) its.write(value);
    if (role === 'r' && value !== undefined && value !== '-') its.read(value);
  }
  if (act === undefined) call.report('unknown', 'is a git command or alias that nothing is known about');
  else act(its, words, args);
  if (verb === 'rev-parse' && before.options.every(({ role, name }) => role === 'r' || /^(P|no-pager)$/.test(name))) {
    // The top of a repository inside may lie deeper than the Workspace; what is judged by the upper one is judged strictly enough.
    const top = args.every((arg) => arg === '--show-toplevel') && args.length === 1 ? its.workspace() : undefined;
    if (top !== undefined) return { origin: 'local', text: `${top}\n` };
  }
  if (/^(ls-files|ls-tree)$/.test(verb) || ((verb === 'diff' || verb === 'show' || verb === 'log') && words.has('name-only')))
    return { origin: 'local', paths: '\uFDD3' };
  return undefined;
};

export const GIT: readonly (readonly [string, Program])[] = all('git', git);
