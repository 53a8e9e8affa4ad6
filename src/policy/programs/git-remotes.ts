import { networkOf } from '../hosts.ts';
import { HOLE, isUnknown, type Text } from '../text.ts';
import { runsRest } from './git-runs.ts';
import { oneSetting } from './git-settings.ts';
import { type GitVerb, loses, writes } from './git-verb.ts';
import type { Words } from './options.ts';
import type { Call } from './program.ts';

// Subcommands of git that talk to another repository.

/** The usual hosts of git are meant where the text names none; one that it names is all that is opened. */
const toHosts = (call: Call, reason: string, words: readonly Text[]): void =>
  call.network(reason, words, networkOf(words).hosts.length === 0 ? ['git'] : []);

const FOREIGN_PROTOCOL = /^(ext|fd)::/;

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

export const reaches =
  (reason: string): GitVerb =>
  (call, words) => {
    transport(call, words);
    const remote = remoteWords(words).filter((word) => /[:/@]/.test(word));
    if (remote.length === 1 && isLocalPath(remote[0] ?? '')) {
      call.read(remote[0] ?? '');
      call.report('local_write', 'changes the repository');
      return;
    }
    toHosts(call, reason, remote);
  };

const isLocalPath = (word: Text): boolean => /^(\.{0,2}\/|file:\/\/)/.test(word) && !isUnknown(word);

export const clone: GitVerb = (call, words) => {
  const [from = HOLE, into] = words.operands;
  transport(call, words);
  configured(call, words);
  if (isLocalPath(from)) call.read(from.replace(/^file:\/\//, ''));
  else toHosts(call, 'git clone reaches another host', [from]);
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

/** On a remote the branch is of this repository, wherever that lies. */
const losesRemote = (call: Call, reason: string): void => call.report('destructive', reason, { verdict: 'prompt' });

export const push: GitVerb = (call, words) => {
  transport(call, words);
  const remote = remoteWords(words).filter((word) => /[:/@]/.test(word));
  toHosts(call, 'git push sends commits to another host', remote);
  call.report('code_execution', 'may run hooks of the repository');
  const forced =
    words.has('f', 'force', 'force-with-lease', 'force-if-includes', 'mirror', 'prune') ||
    words.operands.slice(1).some((ref) => ref.startsWith('+'));
  if (forced) losesRemote(call, 'overwrites a branch on the remote');
  if (words.has('d', 'delete') || words.operands.slice(1).some((ref) => ref.startsWith(':')))
    losesRemote(call, 'removes a branch on the remote');
};

export const PULL = 'gets commits from another host';

export const remote: GitVerb = (call, words, args) => {
  const [verb] = words.operands;
  if (verb === undefined || verb === '-v' || verb === 'get-url') return;
  if (verb === 'show' && words.operands.length === 1) return;
  const address = words.operands.find((word) => FOREIGN_PROTOCOL.test(word));
  if (address !== undefined) call.runsText(address.replace(/^ext::/, ''), 'the address of the remote runs a command');
  if (verb === 'show' || verb === 'update' || verb === 'prune' || args.includes('-f'))
    toHosts(
      call,
      `git remote ${verb} ${PULL}`,
      words.operands.filter((word) => /[:@]/.test(word)),
    );
  if (verb !== 'show') writes(call, words, args);
};

export const submodule: GitVerb = (call, words, args) => {
  const verb = words.operands[0] ?? 'status';
  if (verb === 'foreach') {
    const from = args.findIndex((arg, index) => index > args.indexOf('foreach') && !arg.startsWith('-'));
    runsRest(() => (from < 0 ? undefined : from), true)(call, words, args);
  } else if (/^(status|summary)$/.test(verb)) return;
  else if (/^(update|add)$/.test(verb)) {
    const address = words.operands.find((word) => FOREIGN_PROTOCOL.test(word));
    if (address !== undefined) call.runsText(address.replace(/^ext::/, ''), 'the address of the remote runs a command');
    toHosts(
      call,
      `git submodule ${verb} ${PULL}`,
      words.operands.slice(1).filter((word) => /[:@]/.test(word)),
    );
    writes(call, words, args);
  } else if (verb === 'deinit' && words.has('f', 'force')) loses(call, 'removes submodules with their changes');
  else writes(call, words, args);
};

export const archive: GitVerb = (call, words) => {
  const remoteHost = words.value('remote');
  if (remoteHost !== undefined) toHosts(call, 'git archive reaches another host', [remoteHost]);
  const program = words.value('exec');
  const out = words.value('o', 'output');
  if (out !== undefined) call.write(out);
  if (program !== undefined) call.runsText(program, 'git starts a program named by an option');
};

export const lfs: GitVerb = (call, words, args) => {
  const [verb] = words.operands;
  if (/^(status|ls-files|env|version|track|untrack)$/.test(verb ?? ''))
    return verb === 'track' || verb === 'untrack' ? writes(call, words, args) : undefined;
  if (verb === 'install') call.report('persistence', 'installs hooks and filters');
  else reaches('git lfs reaches another host')(call, words, args);
};
