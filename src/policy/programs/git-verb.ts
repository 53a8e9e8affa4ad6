import type { Text } from '../text.ts';
import type { Words } from './options.ts';
import type { Call } from './program.ts';

/** What one subcommand of git does. `args` is everything behind its name, `words` the same told apart. */
export type GitVerb = (call: Call, words: Words, args: readonly Text[]) => void;

export const reads: GitVerb = () => undefined;

export const writes: GitVerb = (call) => call.report('local_write', 'changes the repository');

/** Hooks of the repository may run. */
export const hooks: GitVerb = (call) => {
  call.report('local_write', 'changes the repository');
  call.report('code_execution', 'may run hooks of the repository');
};

export const loses = (call: Call, reason: string): void => call.loses(reason);
