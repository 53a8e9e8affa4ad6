import { dirname, join, resolve } from 'node:path';
import type { Person } from './generated-files.ts';
import { type GitSetting, lastValue, readGitConfig } from './git-config-file.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { within } from './mount.ts';

const MAX_FILE_BYTES = 256 * 1024;
const MAX_INCLUDES = 16;

/** Host keys that are the same for everybody. Others would tell a run which machines the person knows. */
const PUBLIC_FORGES = /^(?:[^ ]*,)?(?:github\.com|gitlab\.com|bitbucket\.org|codeberg\.org|git\.sr\.ht|ssh\.dev\.azure\.com)[ ,]/;

/** `~/` is the home; `gitdir:` patterns that end in a slash match everything below (gitconfig, "Conditional includes"). */
function included(setting: GitSetting, file: string, home: string, workspace: string): string | undefined {
  const expand = (path: string): string => (path.startsWith('~/') ? join(home, path.slice(2)) : resolve(dirname(file), path));
  if (setting.key !== 'path') return undefined;
  if (setting.section === 'include') return expand(setting.value);
  const pattern = setting.section === 'includeif' ? /^gitdir(?:\/i)?:(.+)\/$/.exec(setting.subsection ?? '')?.[1] : undefined;
  return pattern !== undefined && within(workspace, expand(pattern)) ? expand(setting.value) : undefined;
}

function gitSettings(text: (path: string) => string, files: readonly string[], home: string, workspace: string): readonly GitSetting[] {
  const settings: GitSetting[] = [];
  let budget = MAX_INCLUDES;
  const read = (file: string): void => {
    for (const setting of readGitConfig(text(file)).settings) {
      settings.push(setting);
      const path = included(setting, file, home, workspace);
      if (path !== undefined && budget-- > 0) read(path);
    }
  };
  for (const file of files) read(file);
  return settings;
}

/** An address without user, password and query; undefined for what isn't one. */
function plainUrl(value: string): string | undefined {
  const url = URL.parse(value.trim().replace(/^["']|["']$/g, ''));
  if (!url || !/^https?:$/.test(url.protocol)) return undefined;
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function npmRegistries(npmrc: string): readonly (readonly [string, string])[] {
  return npmrc.split('\n').flatMap((line) => {
    const [, key = '', value = ''] = /^\s*((?:@[\w.-]+:)?registry)\s*=\s*(.+)$/.exec(line) ?? [];
    const url = plainUrl(value);
    return key !== '' && url !== undefined ? [[key, url] as const] : [];
  });
}

/** What of the person's own configuration a run may know: names and addresses, never a credential, a helper or a program. */
export function readPerson(home: string, workspace: string, looks: Looks = PLAIN_LOOKS): Person {
  // The person's own files, which may well be links into a folder of dotfiles. Most people have only some of them.
  const text = (path: string): string => looks.readSmall(path, { max: MAX_FILE_BYTES, follow: true }) ?? '';
  const settings = gitSettings(text, [join(home, '.config/git/config'), join(home, '.gitconfig')], home, workspace);
  const git_name = lastValue(settings, 'user', 'name');
  const git_email = lastValue(settings, 'user', 'email');
  const git_default_branch = lastValue(settings, 'init', 'defaultbranch');
  const pip = `${text(join(home, '.pip/pip.conf'))}\n${text(join(home, '.config/pip/pip.conf'))}`;
  const pip_index = plainUrl(/^\s*index-url\s*[=:]\s*(.+)$/m.exec(pip)?.[1] ?? '');
  const known_hosts = text(join(home, '.ssh/known_hosts'))
    .split('\n')
    .filter((line) => PUBLIC_FORGES.test(line))
    .map((line) => `${line}\n`)
    .join('');
  return {
    ...(git_name === undefined ? {} : { git_name }),
    ...(git_email === undefined ? {} : { git_email }),
    ...(git_default_branch === undefined ? {} : { git_default_branch }),
    npm_registries: npmRegistries(text(join(home, '.npmrc'))),
    ...(pip_index === undefined ? {} : { pip_index }),
    known_hosts,
  };
}
