import { dirname, join } from 'node:path';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { within } from './mount.ts';

/** Beside one of these lies all of a program that was written or unpacked by hand. */
const PACKAGE_MARKS = [
  'package.json',
  'deno.json',
  'pyproject.toml',
  'setup.py',
  'requirements.txt',
  'pyvenv.cfg',
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
  const holdsHome = (path: string): boolean => within(user_home, path);
  const above: string[] = [];
  for (let one = folder; above.length < MAX_ABOVE && !holdsHome(one) && one.split('/').length > 2; one = dirname(one)) above.push(one);
  const root = above.find((one) => PACKAGE_MARKS.some((mark) => kindOf(join(one, mark)) !== 'absent'));
  return [...(root === undefined ? [] : [root]), ...(holdsHome(dirname(folder)) ? [] : [folder]), program];
}
