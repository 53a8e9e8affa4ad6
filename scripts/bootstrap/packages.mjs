import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout.mjs';
import { withLock } from './lock.mjs';
import { NPM_FLAGS, needNpm, npmEnvironment } from './npm.mjs';
import { run } from './run.mjs';
import { Stop, say, step } from './say.mjs';

/** Real servers that the tests meet: hundreds of packages that nobody who only starts Writ needs. */
const PEERS = join(ROOT, 'test', 'peers');

/** Installs what the lock file names, with the given Node, unless node_modules already holds exactly that. */
export async function installPackages(node) {
  await install(node, ROOT, 'Installing the npm packages of package-lock.json');
}

/** The same for what only the tests need. */
export async function installPeers(node) {
  await install(node, PEERS, 'Installing the servers that the tests meet (test/peers)');
}

async function install(node, folder, what) {
  if (missingPackages(folder).length === 0) return;
  await withLock('packages', async () => {
    if (missingPackages(folder).length === 0) return;
    await step(what, () => npmCi({ node, from: folder, to: folder }));
  });
}

/** The start of the name of a folder that an install is made in. */
const WORK = '.new-packages-';

/**
 * Installs what the lock file in `from` names as `to`/node_modules. It is made aside and renamed into place: an interrupted install
 * changes nothing, and neither does an npm that outlives a killed start. npm ends with 0 when the download of an optional package
 * failed, and every native binary here is one: what is really there is looked at afterwards. The caller holds the lock `packages`.
 */
export async function npmCi({ node, from, to }) {
  mkdirSync(to, { recursive: true });
  for (const name of readdirSync(to).filter((entry) => entry.startsWith(WORK))) remove(join(to, name));
  const work = mkdtempSync(join(to, WORK));
  try {
    for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(from, name), join(work, name));
    if (existsSync(join(from, '.npmrc'))) copyFileSync(join(from, '.npmrc'), join(work, '.npmrc'));
    const { code, tail } = await run([node, needNpm(), 'ci', ...NPM_FLAGS, '--prefix', work], {
      cwd: work,
      env: npmEnvironment(),
      quiet: true,
    });
    const missing = missingPackages(work);
    if (code !== 0 || missing.length > 0) {
      const what = code === 0 ? `these packages are missing: ${missing.join(', ')}` : `exit ${code}`;
      throw new Stop(`npm ci failed: ${what}\n${tail}\nCheck the network and npm's registry setting, and run this again.`);
    }
    const place = join(to, 'node_modules');
    if (existsSync(place)) renameSync(place, join(work, 'old'));
    renameSync(join(work, 'node_modules'), place);
  } finally {
    remove(work);
  }
}

/** An npm left over from a killed start may still be writing there; what can't be removed now goes the next time. */
function remove(folder) {
  try {
    rmSync(folder, { recursive: true, force: true });
  } catch (error) {
    say(`Could not remove ${folder} (${error.code}); it is only disk space.`);
  }
}

/**
 * What the lock file wants on this platform and node_modules does not hold in that version and with that digest. npm writes its own
 * account of node_modules at the end of an install.
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
