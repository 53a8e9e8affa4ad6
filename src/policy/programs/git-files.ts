import { type GitVerb, hooks, loses, writes } from './git-verb.ts';
import { optionTable, readWords } from './options.ts';

// Subcommands of git that write files where their words say, or over those that are there.

export const move: GitVerb = (call, words) => {
  for (const path of words.operands) call.write(path);
};

export const init: GitVerb = (call, words, args) => {
  const [folder = '.'] = words.operands;
  call.write(folder);
  // Hooks come with a template.
  if (words.has('template')) hooks(call, words, args);
};

export const bundle: GitVerb = (call, words, args) => {
  const [verb, path] = words.operands;
  if (path !== undefined && verb === 'create') call.write(path);
  else if (path !== undefined) call.read(path);
  writes(call, words, args);
};

export const formatPatch: GitVerb = (call, words, args) => {
  const folder = words.value('o', 'output-directory');
  if (words.has('stdout')) return;
  call.write(`${folder ?? '.'}/.`);
  writes(call, words, args);
};

export const checkoutIndex: GitVerb = (call, words, args) => {
  const prefix = words.value('prefix');
  if (prefix !== undefined) call.write(`${prefix.replace(/\/*$/, '')}/.`);
  else if (words.has('f', 'force')) loses(call, 'overwrites files with their state in the index');
  writes(call, words, args);
};

const READ_TREE = optionTable('index-output=w prefix=- exclude-per-directory=- m u i n v reset dry-run');

export const readTree: GitVerb = (call, words, args) => {
  const own = readWords(args, READ_TREE);
  if (own.has('reset') && own.has('u')) loses(call, 'throws away changes that are not committed');
  else writes(call, words, args);
};

export const symbolicRef: GitVerb = (call, words, args) => {
  if (words.has('d', 'delete')) loses(call, 'removes a reference');
  else if (words.operands.length > 1) writes(call, words, args);
};
