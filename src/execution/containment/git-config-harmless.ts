import { readGitConfig } from './git-config-file.ts';

/**
 * Settings that `git init`, `clone`, `submodule add` and `worktree add` write and that name no program, no file and no other
 * address for a host. A list of the harmless, since git keeps adding settings that start something.
 */
const HARMLESS: readonly { readonly section: string; readonly keys: RegExp }[] = [
  {
    section: 'core',
    keys: /^(repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|sparsecheckout|sparsecheckoutcone|compression|bigfilethreshold|quotepath|abbrev|longpaths)$/,
  },
  { section: 'extensions', keys: /^(objectformat|refstorage|partialclone|worktreeconfig|compatobjectformat)$/ },
  { section: 'remote', keys: /^(url|pushurl|fetch|push|tagopt|mirror|prune|promisor|partialclonefilter|skipfetchall|followremotehead)$/ },
  { section: 'branch', keys: /^(remote|merge|rebase|pushremote|description)$/ },
  { section: 'submodule', keys: /^(url|active|branch|ignore|shallow)$/ },
  { section: 'user', keys: /^(name|email)$/ },
  { section: 'pull', keys: /^(rebase|ff)$/ },
  { section: 'push', keys: /^(default|autosetupremote|followtags)$/ },
  { section: 'init', keys: /^defaultbranch$/ },
  { section: 'gc', keys: /^(auto|autodetach)$/ },
];

/** `ext::` and friends are transports that start programs. */
const ORDINARY_ADDRESS = /^(?:https?|ssh|git|file):\/\/|^[^:]*$|^[\w.-]+@[\w.-]+:[^:]|^[\w.-]+:[^:]/;

export function isHarmlessGitConfig(text: string): boolean {
  const { settings, understood } = readGitConfig(text);
  if (!understood) return false;
  return settings.every(({ section, key, value }) => {
    if (!HARMLESS.some((entry) => entry.section === section && entry.keys.test(key))) return false;
    return (key !== 'url' && key !== 'pushurl') || (ORDINARY_ADDRESS.test(value) && !value.startsWith('-'));
  });
}
