import { dirname, join } from 'node:path';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { within } from './mount.ts';

/** Beside one of these lies all of a program that was written or unpacked by hand. */
const PACKAGE_MARKS = [
  'package.json',
  'node_modules',
  'deno.json',
  'pyproject.toml',
  'setup.py',
  'requirements.txt',
  'pyvenv.cfg',
  '.venv',
  'Gemfile',
  'composer.json',
  'go.mod',
  'Cargo.toml',
] as const;
/** A package is looked for so many folders above its program. */
const MAX_ABOVE = 6;

/**
 * What has to be seen for a program to run that lies outside of everything bound, best first: the outermost `node_modules` it is in (its
 * dependencies are beside it there, by links too), the root of its package, its folder, the file alone. The home and what holds it is
 * never a package, and a folder right in the home (Downloads, Desktop) is nobody's program.
 */
export function programFolders(program: string, user_home: string, { kindOf }: Looks = PLAIN_LOOKS): readonly string[] {
  const modules = /^(.*?\/node_modules)\//.exec(program)?.[1];
  if (modules !== undefined) return [modules];
  const folder = dirname(program);
  const root = above(folder, user_home).find((one) => PACKAGE_MARKS.some((mark) => kindOf(join(one, mark)) !== 'absent'));
  return [...(root === undefined ? [] : [root]), ...(within(user_home, dirname(folder)) ? [] : [folder]), program];
}

/** Where Node looks next for what a package needs: in a repository of many packages most of it lies with the outermost. */
export function modulesAbove(root: string, user_home: string, { kindOf }: Looks = PLAIN_LOOKS): readonly string[] {
  if (kindOf(join(root, 'package.json')) !== 'file') return [];
  return above(dirname(root), user_home)
    .map((one) => join(one, 'node_modules'))
    .filter((path) => kindOf(path) === 'folder');
}

function above(folder: string, user_home: string): readonly string[] {
  const found: string[] = [];
  for (let one = folder; found.length < MAX_ABOVE && !within(user_home, one) && one.split('/').length > 2; one = dirname(one)) {
    found.push(one);
  }
  return found;
}
