import { existsSync, lstatSync, mkdirSync, readFileSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout.mjs';
import { withLock } from './lock.mjs';
import { npmCi } from './packages.mjs';
import { run } from './run.mjs';
import { Stop, step } from './say.mjs';

const HOME = join(ROOT, '.node');
const PINNED = join(ROOT, 'scripts', 'node-24');

/** Node 24 LTS or 26 and later; 25 was never a long-term line and the test tools refuse it. */
function isRightNode(version) {
  const major = Number.parseInt(version, 10);
  return major === 24 || major >= 26;
}

/**
 * The Node that runs Writ in this checkout: the running one if it is new enough, else the pinned one in `.node/`, fetched from the
 * npm registry the first time. `.node/node` points at the choice, for `./writ`.
 * @returns {Promise<string>} path of the executable
 */
export async function findNode() {
  const path = isRightNode(process.versions.node) ? process.execPath : await pinnedNode();
  point(path);
  return path;
}

async function pinnedNode() {
  const { optionalDependencies } = JSON.parse(readFileSync(join(PINNED, 'package.json'), 'utf8'));
  const name = `node-${process.platform}-${process.arch}`;
  const version = optionalDependencies[name];
  const why = `Writ needs Node 24 or newer; this is ${process.versions.node}.`;
  if (version === undefined)
    throw new Stop(`${why} No ready-made Node 24 is known for ${process.platform}-${process.arch}: install it and run this again.`);
  const path = join(HOME, 'node_modules', name, 'bin', 'node');
  const manifest = join(HOME, 'node_modules', name, 'package.json');
  const there = () => existsSync(path) && JSON.parse(readFileSync(manifest, 'utf8')).version === version;
  if (!there()) {
    await withLock('packages', async () => {
      if (!there())
        await step(`${why} Fetching Node ${version} into .node/`, () => npmCi({ node: process.execPath, from: PINNED, to: HOME }));
    });
  }
  const works = await run([path, '--version'], { quiet: true });
  if (works.code !== 0) {
    throw new Stop(`${why} The fetched ${path} does not run here:\n${works.tail}\nInstall Node 24 or newer yourself and run this again.`);
  }
  return path;
}

function point(path) {
  mkdirSync(HOME, { recursive: true });
  const link = join(HOME, 'node');
  if (lstatSync(link, { throwIfNoEntry: false })?.isSymbolicLink() && readlinkSync(link) === path) return;
  const temporary = `${link}.${process.pid}.tmp`;
  rmSync(temporary, { force: true });
  symlinkSync(path, temporary);
  renameSync(temporary, link);
}
