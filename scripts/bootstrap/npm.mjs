import { existsSync, realpathSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { Stop } from './say.mjs';

/**
 * The npm to work with, as a script that any Node can run: the one that started us, else the one beside the running Node, else
 * the one on PATH. Another package manager in `npm_execpath` (pnpm, yarn) is not used.
 * @returns {string | undefined}
 */
export function findNpm() {
  const candidates = [
    process.env.npm_execpath,
    join(dirname(process.execPath), '..', 'lib', 'node_modules', 'npm', 'bin', 'npm-cli.js'),
    ...(process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'npm')),
  ];
  for (const candidate of candidates) {
    if (!candidate || !existsSync(candidate)) continue;
    const path = realpathSync(candidate);
    if (path.endsWith('npm-cli.js')) return path;
  }
  return undefined;
}

/** For when there is something to install. */
export function needNpm() {
  const npm = findNpm();
  if (npm === undefined) throw new Stop('npm was not found. It comes with Node.js; on Debian and Ubuntu also by `apt-get install npm`.');
  return npm;
}

/** Development packages are needed even where the user's npm is set up for production. Install scripts never run. */
export const NPM_FLAGS = [
  '--ignore-scripts',
  '--include=dev',
  '--include=optional',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--loglevel=error',
];

/** npm hands the settings of the running script to its children; those about this very script would mislead a second npm. */
export function npmEnvironment() {
  const about =
    /^npm_(lifecycle_|package_|command$|config_(local_prefix|prefix|global|dry_run|omit|include|only|production|workspaces?)$)/i;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !about.test(name) && name !== 'NODE_ENV'));
}
