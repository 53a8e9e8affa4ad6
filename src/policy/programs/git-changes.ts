import { HOLE, isUnknown, type Text } from '../text.ts';
import { type GitVerb, hooks, loses, writes } from './git-verb.ts';

// Subcommands of git that change files, branches and other references of this repository, and may lose some.

/** `git checkout x` is a branch, a tag or a path: by its looks, as git would guess. */
const looksLikePath = (word: Text): boolean =>
  isUnknown(word) || /^(\.|:\/)$|^\.?\.?\//.test(word) || (/\.\w+$/.test(word) && !/^v?\d+(\.\d+)+/.test(word));

export const checkout: GitVerb = (call, words, args) => {
  hooks(call, words, args);
  const dashes = args.indexOf('--');
  const paths = dashes >= 0 ? args.slice(dashes + 1) : [];
  const creates = words.has('b', 'B', 'orphan', 'c', 'C', 'create');
  if (words.has('f', 'force', 'discard-changes', 'ours', 'theirs') && !creates) loses(call, 'throws away changes that are not committed');
  else if (paths.length > 0 || (!creates && words.operands.some(looksLikePath))) {
    loses(call, 'overwrites files with their committed state');
  } else if (!creates && words.operands.length > 1 && !words.has('t', 'track', 'detach'))
    loses(call, 'may overwrite files with their committed state');
  if (words.has('B', 'C')) loses(call, 'moves a branch that may exist');
};

export const restore: GitVerb = (call, words) => {
  const staged = words.has('staged', 'S') && !words.has('worktree', 'W');
  if (staged) writes(call, words, []);
  else loses(call, 'overwrites files with their committed state');
};

export const reset: GitVerb = (call, words) => {
  if (words.has('hard', 'merge', 'keep')) loses(call, 'throws away changes that are not committed');
  else writes(call, words, []);
};

export const clean: GitVerb = (call, words) => {
  if (words.has('n', 'dry-run')) return;
  if (words.has('f', 'force', 'i', 'interactive')) loses(call, 'removes files that git does not know');
  else call.report('local_write', 'refuses without -f');
};

export const branch: GitVerb = (call, words) => {
  if (words.has('D') || (words.has('d', 'delete') && words.has('f', 'force'))) loses(call, 'removes a branch that may not be merged');
  else if (words.has('M', 'C') || (words.has('f', 'force') && words.operands.length > 0)) loses(call, 'moves a branch by force');
  else if (words.has('d', 'delete', 'm', 'move', 'c', 'copy', 'u', 'set-upstream-to', 'unset-upstream', 'edit-description', 't', 'track'))
    writes(call, words, []);
  else if (
    words.operands.length > 0 &&
    !words.has('list', 'l', 'contains', 'merged', 'no-merged', 'points-at', 'show-current', 'r', 'a', 'remotes', 'all', 'v')
  )
    writes(call, words, []);
};

export const tag: GitVerb = (call, words) => {
  if (words.has('d', 'delete') || (words.has('f', 'force') && words.operands.length > 0)) loses(call, 'removes or moves a tag');
  else if (words.operands.length > 0 && !words.has('l', 'list', 'n', 'contains', 'merged', 'no-merged', 'points-at', 'v', 'verify'))
    writes(call, words, []);
};

export const stash: GitVerb = (call, words) => {
  const verb = words.operands[0] ?? 'push';
  if (verb === 'show' || verb === 'list') return;
  if (verb === 'drop' || verb === 'clear') loses(call, 'throws away stashed work');
  else call.report('local_write', 'changes the repository');
};

export const worktree: GitVerb = (call, words, args) => {
  const [verb, path] = words.operands;
  if (verb === 'list' || verb === undefined) return;
  if (verb === 'remove') {
    if (words.has('f', 'force')) call.remove(path ?? HOLE, true);
    else call.write(path ?? HOLE);
  } else if (verb === 'add') {
    call.write(path ?? HOLE);
    hooks(call, words, args);
  } else if (verb === 'move') for (const one of words.operands.slice(1)) call.write(one);
  else writes(call, words, args);
};

export const rm: GitVerb = (call, words) => {
  const recursive = words.has('r');
  if (words.has('cached')) {
    call.report('local_write', 'changes the index');
    return;
  }
  for (const path of words.operands) call.remove(path, recursive);
  call.report('local_write', 'changes the index');
};

export const apply: GitVerb = (call, words) => {
  for (const path of words.operands) call.read(path);
  const folder = words.value('directory');
  if (folder !== undefined) call.write(folder);
  if (!words.has('check', 'stat', 'numstat', 'summary') || words.has('apply')) {
    call.report('local_write', 'changes files as the patch says');
    if (words.has('unsafe-paths')) call.report('system_write', 'lets a patch write outside the repository');
  }
};

export const reflog: GitVerb = (call, words) => {
  if (/^(expire|delete)$/.test(words.operands[0] ?? '')) loses(call, 'removes the record that could bring commits back');
};

export const updateRef: GitVerb = (call, words, args) =>
  words.has('d', 'delete', 'stdin')
    ? loses(call, 'removes references')
    : words.operands.length > 1 && /^(HEAD|refs\/(heads|tags)\/)/.test(words.operands[0] ?? '')
      ? loses(call, 'moves a reference by force')
      : writes(call, words, args);
