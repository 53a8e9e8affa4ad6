import { HOLE, isKnown, isUnknown, type Text } from '../text.ts';
import { all } from './define.ts';
import { GLOBALS, OPTIONS, OVERRIDES } from './git-options.ts';
import { CONFIG, oneSetting, SAFE_KEY } from './git-settings.ts';
import { readWords, type Words } from './options.ts';
import type { Call, Program } from './program.ts';

const FOREIGN_PROTOCOL = /^(ext|fd)::/;

type GitVerb = (call: Call, words: Words, args: readonly Text[]) => void;

const reads: GitVerb = () => undefined;

const writes: GitVerb = (call) => call.report('local_write', 'changes the repository');

/** Hooks of the repository may run. */
const hooks: GitVerb = (call) => {
  call.report('local_write', 'changes the repository');
  call.report('code_execution', 'may run hooks of the repository');
};

const loses = (call: Call, reason: string): void => call.loses(reason);

/** On a remote the branch is of this repository, wherever that lies. */
const losesRemote = (call: Call, reason: string): void => call.report('destructive', reason, { verdict: 'prompt' });

const remoteWords = (words: Words): readonly Text[] => words.operands.slice(0, 1);

const transport = (call: Call, words: Words): void => {
  const [remote] = words.operands;
  if (remote !== undefined && FOREIGN_PROTOCOL.test(remote))
    call.runsText(remote.replace(/^ext::/, ''), 'the address of the remote runs a command');
  for (const { name, value } of words.options) {
    if (/^(upload-pack|receive-pack|exec|u)$/.test(name) && value !== undefined && value !== '' && call.name !== 'push') {
      if (name !== 'u' || /[/\s]/.test(value)) call.runsText(value, 'git starts a program named by an option');
    }
  }
};

const reaches =
  (reason: string): GitVerb =>
  (call, words) => {
    transport(call, words);
    const remote = remoteWords(words).filter((word) => /[:/@]/.test(word));
    if (remote.length === 1 && isLocalPath(remote[0] ?? '')) {
      call.read(remote[0] ?? '');
      call.report('local_write', 'changes the repository');
      return;
    }
    call.network(reason, remote, ['git']);
  };

const isLocalPath = (word: Text): boolean => /^(\.{0,2}\/|file:\/\/)/.test(word) && !isUnknown(word);

const clone: GitVerb = (call, words) => {
  const [from = HOLE, into] = words.operands;
  transport(call, words);
  configured(call, words);
  if (isLocalPath(from)) call.read(from.replace(/^file:\/\//, ''));
  else call.network('git clone reaches another host', [from], ['git']);
  const name =
    into ??
    (isUnknown(from)
      ? undefined
      : from
          .replace(/\/+$/, '')
          .replace(/\.git$/, '')
          .split(/[/:]/)
          .at(-1));
  call.write(name === undefined ? './.' : name);
  for (const { name: option, value } of words.options)
    if (option === 'template' && value !== undefined) call.report('code_execution', 'takes hooks from a template');
};

const configured = (call: Call, words: Words): void => {
  for (const { name, value } of words.options) if ((name === 'c' || name === 'config') && value !== undefined) oneSetting(call, value);
};

const push: GitVerb = (call, words) => {
  transport(call, words);
  const remote = remoteWords(words).filter((word) => /[:/@]/.test(word));
  call.network('git push sends commits to another host', remote, ['git']);
  call.report('code_execution', 'may run hooks of the repository');
  const forced =
    words.has('f', 'force', 'force-with-lease', 'force-if-includes', 'mirror', 'prune') ||
    words.operands.slice(1).some((ref) => ref.startsWith('+'));
  if (forced) losesRemote(call, 'overwrites a branch on the remote');
  if (words.has('d', 'delete') || words.operands.slice(1).some((ref) => ref.startsWith(':')))
    losesRemote(call, 'removes a branch on the remote');
};

const PULL = 'gets commits from another host';

/** `git checkout x` is a branch, a tag or a path: by its looks, as git would guess. */
const looksLikePath = (word: Text): boolean =>
  isUnknown(word) || /^(\.|:\/)$|^\.?\.?\//.test(word) || (/\.\w+$/.test(word) && !/^v?\d+(\.\d+)+/.test(word));

const checkout: GitVerb = (call, words, args) => {
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

const restore: GitVerb = (call, words) => {
  const staged = words.has('staged', 'S') && !words.has('worktree', 'W');
  if (staged) writes(call, words, []);
  else loses(call, 'overwrites files with their committed state');
};

const reset: GitVerb = (call, words) => {
  if (words.has('hard', 'merge', 'keep')) loses(call, 'throws away changes that are not committed');
  else writes(call, words, []);
};

const clean: GitVerb = (call, words) => {
  if (words.has('n', 'dry-run')) return;
  if (words.has('f', 'force', 'i', 'interactive')) loses(call, 'removes files that git does not know');
  else call.report('local_write', 'refuses without -f');
};

const branch: GitVerb = (call, words) => {
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

const tag: GitVerb = (call, words) => {
  if (words.has('d', 'delete') || (words.has('f', 'force') && words.operands.length > 0)) loses(call, 'removes or moves a tag');
  else if (words.operands.length > 0 && !words.has('l', 'list', 'n', 'contains', 'merged', 'no-merged', 'points-at', 'v', 'verify'))
    writes(call, words, []);
};

const stash: GitVerb = (call, words) => {
  const verb = words.operands[0] ?? 'push';
  if (verb === 'show' || verb === 'list') return;
  if (verb === 'drop' || verb === 'clear') loses(call, 'throws away stashed work');
  else call.report('local_write', 'changes the repository');
};

const remote: GitVerb = (call, words, args) => {
  const [verb] = words.operands;
  if (verb === undefined || verb === '-v' || verb === 'get-url') return;
  if (verb === 'show' && words.operands.length === 1) return;
  const address = words.operands.find((word) => FOREIGN_PROTOCOL.test(word));
  if (address !== undefined) call.runsText(address.replace(/^ext::/, ''), 'the address of the remote runs a command');
  if (verb === 'show' || verb === 'update' || verb === 'prune' || args.includes('-f'))
    call.network(
      `git remote ${verb} ${PULL}`,
      words.operands.filter((word) => /[:@]/.test(word)),
      ['git'],
    );
  if (verb !== 'show') writes(call, words, args);
};

const config: GitVerb = (call, _words, args) => {
  const words = readWords(args, CONFIG);
  const operands = [...words.operands];
  const verb =
    ['get', 'list', 'set', 'unset', 'edit', 'rename-section', 'remove-section', 'get-color', 'get-colorbool'].includes(operands[0] ?? '') &&
    operands[0] !== undefined
      ? operands.shift()
      : undefined;
  const shows =
    verb === 'get' ||
    verb === 'list' ||
    words.has('get', 'get-all', 'get-regexp', 'get-urlmatch', 'list', 'l') ||
    (verb === undefined &&
      operands.length === 1 &&
      !words.has('unset', 'unset-all', 'e', 'edit', 'remove-section', 'rename-section', 'add'));
  const outside = words.has('global', 'system') || (words.value('f', 'file') !== undefined && !shows);
  if (shows) {
    const key = operands[0] ?? '';
    if (/extraheader|password|token|credential/i.test(key)) call.report('credential_access', 'shows a setting that may hold a secret');
    return;
  }
  if (verb === 'edit' || words.has('e', 'edit')) {
    call.report('persistence', 'edits the configuration of git');
    return;
  }
  const [key = HOLE, value] = operands;
  const removes = verb === 'unset' || words.has('unset', 'unset-all', 'remove-section');
  if (!outside && removes && isKnown(key)) {
    call.report('local_write', 'changes the configuration of the repository');
    return;
  }
  if (!outside && SAFE_KEY.test(key) && isKnown(key)) {
    call.report('local_write', 'changes the configuration of the repository');
    return;
  }
  const folder = outside ? undefined : call.cwd.length === 1 ? `${call.cwd[0]}/.git/config` : undefined;
  call.report(
    'persistence',
    `sets ${isKnown(key) ? key : 'an unknown key'} in the configuration of git, which can name programs`,
    folder === undefined || !isKnown(folder) ? {} : { opens: { type: 'path', path: folder, access: 'write' } },
  );
  if (value?.startsWith('!')) call.shell(value.slice(1));
};

const runsRest =
  (at: (args: readonly Text[]) => number | undefined, joined: boolean): GitVerb =>
  (call, _words, args) => {
    call.report('code_execution', 'git runs a command');
    const from = at(args);
    if (from === undefined) return;
    const rest = args.slice(from);
    if (rest.length === 0) return;
    if (joined || rest.length === 1) call.shell(rest.join(' '));
    else call.inner(call.args.length - rest.length);
  };

const bisect: GitVerb = (call, words, args) => {
  if (args[0] === 'run') runsRest(() => 1, false)(call, words, args);
  else if (/^(log|view|visualize|terms|help)$/.test(args[0] ?? '')) return;
  else hooks(call, words, args);
};

const submodule: GitVerb = (call, words, args) => {
  const verb = words.operands[0] ?? 'status';
  if (verb === 'foreach') {
    const from = args.findIndex((arg, index) => index > args.indexOf('foreach') && !arg.startsWith('-'));
    runsRest(() => (from < 0 ? undefined : from), true)(call, words, args);
  } else if (/^(status|summary)$/.test(verb)) return;
  else if (/^(update|add)$/.test(verb)) {
    const address = words.operands.find((word) => FOREIGN_PROTOCOL.test(word));
    if (address !== undefined) call.runsText(address.replace(/^ext::/, ''), 'the address of the remote runs a command');
    call.network(
      `git submodule ${verb} ${PULL}`,
      words.operands.slice(1).filter((word) => /[:@]/.test(word)),
      ['git'],
    );
    writes(call, words, args);
  } else if (verb === 'deinit' && words.has('f', 'force')) loses(call, 'removes submodules with their changes');
  else writes(call, words, args);
};

const rebase: GitVerb = (call, words, args) => {
  hooks(call, words, args);
  for (const { name, value } of words.options) if ((name === 'x' || name === 'exec') && value !== undefined) call.shell(value);
};

const filterBranch: GitVerb = (call, _words, args) => {
  loses(call, 'rewrites history');
  args.forEach((arg, index) => {
    if (/-filter$/.test(args[index - 1] ?? '')) call.shell(arg);
    const glued = /^--[a-z]+-filter=(.*)$/s.exec(arg)?.[1];
    if (glued !== undefined) call.shell(glued);
  });
  call.report('code_execution', 'runs commands on every commit');
};

const worktree: GitVerb = (call, words, args) => {
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

const rm: GitVerb = (call, words) => {
  const recursive = words.has('r');
  if (words.has('cached')) {
    call.report('local_write', 'changes the index');
    return;
  }
  for (const path of words.operands) call.remove(path, recursive);
  call.report('local_write', 'changes the index');
};

const apply: GitVerb = (call, words) => {
  for (const path of words.operands) call.read(path);
  const folder = words.value('directory');
  if (folder !== undefined) call.write(folder);
  if (!words.has('check', 'stat', 'numstat', 'summary') || words.has('apply')) {
    call.report('local_write', 'changes files as the patch says');
    if (words.has('unsafe-paths')) call.report('system_write', 'lets a patch write outside the repository');
  }
};

const difftool: GitVerb = (call, words) => {
  call.report('code_execution', 'git starts a tool');
  const command = words.value('x', 'extcmd');
  if (command !== undefined) call.shell(command);
};

const grep: GitVerb = (call, _words, args) => {
  for (const arg of args) {
    const pager = /^(?:-O|--open-files-in-pager=)(.+)$/s.exec(arg)?.[1];
    if (pager !== undefined) call.runsText(pager, 'git grep opens the files in a program');
    else if (/^(-O|--open-files-in-pager)$/.test(arg)) call.report('code_execution', 'git grep opens the files in a pager');
  }
};

const archive: GitVerb = (call, words) => {
  const remoteHost = words.value('remote');
  if (remoteHost !== undefined) call.network('git archive reaches another host', [remoteHost], ['git']);
  const program = words.value('exec');
  if (program !== undefined) call.runsText(program, 'git starts a program named by an option');
};

const reflog: GitVerb = (call, words) => {
  if (/^(expire|delete)$/.test(words.operands[0] ?? '')) loses(call, 'removes the record that could bring commits back');
};

const lfs: GitVerb = (call, words, args) => {
  const [verb] = words.operands;
  if (/^(status|ls-files|env|version|track|untrack)$/.test(verb ?? ''))
    return verb === 'track' || verb === 'untrack' ? writes(call, words, args) : undefined;
  if (verb === 'install') call.report('persistence', 'installs hooks and filters');
  else reaches('git lfs reaches another host')(call, words, args);
};

const diffReads: GitVerb = (call, words) => {
  // Two plain files may be compared with --no-index, and then they are paths like any other.
  if (words.has('no-index')) for (const path of words.operands) call.read(path);
  if (words.has('ext-diff', 'textconv')) call.report('code_execution', 'may start a program that the repository names');
};

const updateRef: GitVerb = (call, words, args) =>
  words.has('d', 'delete') ? loses(call, 'removes a reference') : writes(call, words, args);

const VERBS: ReadonlyMap<string, GitVerb> = new Map<string, GitVerb>([
  ...'status log show rev-parse rev-list describe blame annotate shortlog ls-files ls-tree cat-file name-rev merge-base cherry show-ref for-each-ref count-objects var version help whatchanged check-ignore check-attr check-mailmap diff-tree diff-index diff-files verify-commit verify-tag fsck range-diff symbolic-ref get-tar-commit-id stripspace column interpret-trailers show-branch fmt-merge-msg patch-id merge-tree rev-tree'
    .split(' ')
    .map((name) => [name, name === 'log' || name === 'show' || name === 'whatchanged' ? diffReads : reads] as const),
  ['diff', diffReads],
  ['grep', grep],
  ...'add mv init update-index notes pack-refs repack gc prune-packed commit-graph multi-pack-index rerere sparse-checkout replace write-tree read-tree commit-tree hash-object mktag mktree unpack-objects index-pack pack-objects bundle format-patch update-server-info checkout-index mailinfo mailsplit fast-export'
    .split(' ')
    .map((name) => [name, writes] as const),
  ...'commit merge cherry-pick revert am fast-import'.split(' ').map((name) => [name, hooks] as const),
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
  if (/^(ls-files|ls-tree)$/.test(verb) || ((verb === 'diff' || verb === 'show' || verb === 'log') && words.has('name-only')))
    return { origin: 'local', paths: '\uFDD3' };
  return undefined;
};

export const GIT: readonly (readonly [string, Program])[] = all('git', git);
