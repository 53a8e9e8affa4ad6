import type { Wanted } from './types.ts';

/** What a word names that should be a package. */
export type Spec =
  /** `text` as its installer is told. */
  | { readonly type: 'registry'; readonly name: string; readonly text: string }
  /** A folder or file of this machine. */
  | { readonly type: 'local' }
  /** Something of the network that no registry has. */
  | { readonly type: 'elsewhere' };

const PATH = /^(?:\.{1,2}$|\.{0,2}\/|~\/|file:|link:)|^[^@:]*\.(?:tgz|tar\.gz|whl)$/;
const NPM_NAME = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*)(?:@([\w.^~<>=|*+ -]+))?$/i;
const PYTHON =
  /^([a-z0-9](?:[a-z0-9._-]*[a-z0-9])?)(\[[a-z0-9._, -]+\])?(?:@([\w.+!-]+)|((?:===?|[~!<>]=|[<>])[\w.*+!-]+(?:,(?:===?|[~!<>]=|[<>])[\w.*+!-]+)*))?$/i;

/** https://docs.npmjs.com/cli/v11/using-npm/package-spec */
function npmSpec(word: string): Spec {
  const [, name, version] = NPM_NAME.exec(word) ?? [];
  // An installer would take a name that begins with a dash for one of its options.
  if (name === undefined || name.startsWith('-')) return { type: 'elsewhere' };
  return { type: 'registry', name, text: version === undefined ? name : `${name}@${version.trim()}` };
}

/** PEP 508 without addresses and markers, and `name@version` of uvx. */
function pythonSpec(word: string): Spec {
  const [, name, extras = '', at, specifier = ''] = PYTHON.exec(word.replaceAll(' ', '')) ?? [];
  if (name === undefined) return { type: 'elsewhere' };
  const version = at === undefined || at === 'latest' ? specifier : `==${at}`;
  return { type: 'registry', name, text: `${name}${extras}${version}` };
}

export function readSpec(word: string, ecosystem: Wanted['ecosystem']): Spec {
  if (PATH.test(word)) return { type: 'local' };
  return ecosystem === 'npm' ? npmSpec(word) : pythonSpec(word);
}
