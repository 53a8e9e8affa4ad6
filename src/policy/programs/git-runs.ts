import type { Text } from '../text.ts';
import { type GitVerb, hooks, loses } from './git-verb.ts';

// Subcommands of git that start programs named on the command line or by the repository.

export const runsRest =
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

export const bisect: GitVerb = (call, words, args) => {
  if (args[0] === 'run') runsRest(() => 1, false)(call, words, args);
  else if (/^(log|view|visualize|terms|help)$/.test(args[0] ?? '')) return;
  else hooks(call, words, args);
};

export const rebase: GitVerb = (call, words, args) => {
  hooks(call, words, args);
  for (const { name, value } of words.options) if ((name === 'x' || name === 'exec') && value !== undefined) call.shell(value);
};

export const filterBranch: GitVerb = (call, _words, args) => {
  loses(call, 'rewrites history');
  args.forEach((arg, index) => {
    if (/-filter$/.test(args[index - 1] ?? '')) call.shell(arg);
    const glued = /^--[a-z]+-filter=(.*)$/s.exec(arg)?.[1];
    if (glued !== undefined) call.shell(glued);
  });
  call.report('code_execution', 'runs commands on every commit');
};

export const difftool: GitVerb = (call, words) => {
  call.report('code_execution', 'git starts a tool');
  const command = words.value('x', 'extcmd');
  if (command !== undefined) call.shell(command);
};

/** A pathspec of git may be a pattern of its own, which asks for a kind of file. */
const isGlobby = (path: Text): boolean => /[*?[]/.test(path);

export const grep: GitVerb = (call, _words, args) => {
  const paths = args.indexOf('--');
  if (paths >= 0) for (const path of args.slice(paths + 1)) if (!path.startsWith(':')) call.read(path);
  for (const arg of args) {
    const pager = /^(?:-O|--open-files-in-pager=)(.+)$/s.exec(arg)?.[1];
    if (pager !== undefined) call.runsText(pager, 'git grep opens the files in a program');
    else if (/^(-O|--open-files-in-pager)$/.test(arg)) call.report('code_execution', 'git grep opens the files in a pager');
  }
};

/** `REV:path` and `:path` are what was kept of a file: as secret as the file. */
export const kept: GitVerb = (call, words) => {
  for (const word of words.operands) {
    const path = /^[^:]*:(?:[0-3]:)?([^:/].*)$/s.exec(word)?.[1];
    if (path !== undefined) call.read(path);
  }
};

export const diffReads: GitVerb = (call, words, args) => {
  kept(call, words, args);
  // With the lines that changed, a path that is named is read.
  const paths = args.indexOf('--');
  if (paths >= 0 && (words.has('p', 'u', 'patch') || /^(diff|show)$/.test(call.args.find((arg) => /^(diff|show|log)$/.test(arg)) ?? '')))
    for (const path of args.slice(paths + 1)) if (!path.startsWith(':') && !isGlobby(path)) call.read(path);
  // Two plain files may be compared with --no-index, and then they are paths like any other.
  if (words.has('no-index')) for (const path of words.operands) call.read(path);
  if (words.has('ext-diff', 'textconv')) call.report('code_execution', 'may start a program that the repository names');
};
