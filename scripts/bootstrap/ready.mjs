import { delimiter, dirname, join } from 'node:path';
import { ROOT } from './checkout.mjs';
import { findNode } from './node-runtime.mjs';
import { findNpm } from './npm.mjs';
import { installPackages, installPeers } from './packages.mjs';
import { installPrograms } from './system.mjs';

/**
 * Makes the checkout ready to work in: a right Node, the npm packages, and for `start` and `test` the programs they need. Quick
 * when everything is there, and needs no network then.
 * @param {'start' | 'test' | 'build'} purpose
 * @returns {Promise<{ node: string, env: NodeJS.ProcessEnv, missing: string[] }>} `env` puts that Node and the tools of the checkout first on PATH
 */
export async function makeReady(purpose) {
  const node = await findNode();
  await installPackages(node);
  if (purpose === 'test') await installPeers(node);
  const missing = purpose === 'build' ? [] : await installPrograms(purpose);
  const path = [dirname(node), join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? '/usr/local/bin:/usr/bin:/bin'].join(delimiter);
  const npm = findNpm();
  return { node, env: { ...process.env, PATH: path, ...(npm === undefined ? {} : { npm_execpath: npm }) }, missing };
}
