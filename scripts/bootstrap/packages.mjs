import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout.mjs';
import { withLock } from './lock.mjs';
import { findNpm, NPM_FLAGS, npmEnvironment } from './npm.mjs';
import { run } from './run.mjs';
import { Stop, step } from './say.mjs';

/** Installs what the lock file names, with the given Node, unless node_modules already holds exactly that. */
export async function installPackages(node) {
  if (missingPackages(ROOT).length === 0) return;
  await withLock('packages', async () => {
    if (missingPackages(ROOT).length === 0) return;
    await step('Installing the npm packages of package-lock.json', () => npmCi(node, ROOT));
  });
}

/**
 * npm ends with 0 when the download of an optional package failed, and every native binary here is one: what is really there is
 * looked at afterwards.
 */
export async function npmCi(node, folder) {
  const argv = [node, findNpm(), 'ci', ...NPM_FLAGS, '--prefix', folder];
  const { code, tail } = await run(argv, { cwd: folder, env: npmEnvironment(), quiet: true });
  const missing = missingPackages(folder);
  if (code === 0 && missing.length === 0) return;
  const what = code === 0 ? `these packages are missing: ${missing.join(', ')}` : `exit ${code}`;
  throw new Stop(`npm ci in ${folder} failed: ${what}\n${tail}\nCheck the network and npm's registry setting, and run this again.`);
}

/**
 * What the lock file wants on this platform and node_modules does not hold in that version and with that digest. npm writes its own
 * account of node_modules at the end of an install and removes it at the start of one, so an interrupted install counts as nothing.
 */
function missingPackages(folder) {
  const wanted = packagesOf(join(folder, 'package-lock.json')) ?? {};
  const installed = packagesOf(join(folder, 'node_modules', '.package-lock.json')) ?? {};
  return Object.entries(wanted)
    .filter(([path, entry]) => path !== '' && fitsHere(entry))
    .filter(([path, entry]) => installed[path]?.version !== entry.version || installed[path]?.integrity !== entry.integrity)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages;
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** An optional package that names no platform may be the helper of one for another platform: its absence means nothing. */
function fitsHere({ os, cpu, libc, optional }) {
  if (optional && os === undefined && cpu === undefined) return false;
  return admits(os, process.platform) && admits(cpu, process.arch) && (libc === undefined || admits(libc, libcName()));
}

function admits(list, value) {
  if (list === undefined) return true;
  const names = [list].flat();
  return !names.includes(`!${value}`) && (names.includes(value) || names.every((name) => name.startsWith('!')));
}

function libcName() {
  return process.report.getReport().header.glibcVersionRuntime === undefined ? 'musl' : 'glibc';
}
