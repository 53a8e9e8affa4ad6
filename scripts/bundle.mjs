import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join, relative, sep } from 'node:path';
import { rolldown } from 'rolldown';
import { ROOT } from './bootstrap/checkout.mjs';
import { isBuilt } from './bootstrap/fresh.mjs';
import { withLock } from './bootstrap/lock.mjs';
import { main } from './bootstrap/say.mjs';

const DIST = join(ROOT, 'dist');
const ENTRIES = join(ROOT, 'src', 'main');
/** Built here, then moved into dist/; a killed build leaves it behind. */
const WORK = '.dist-new-';
/** Native code can't be bundled, nor what reads files of its own; they stay optional dependencies. */
const EXTERNAL = ['@lydell/node-pty', 'playwright-core', /^node:/];
/** Modules of a room only define things, so that whoever uses one name of a room needn't load all of it. Programs do something. */
const definesOnly = (id) => id.startsWith(join(ROOT, 'src') + sep) && dirname(id) !== ENTRIES;
/** Deciding, and saying what it would open, is needed from the start and small; assessing commands is neither, and would be put into the same file. */
const DECIDES = { name: 'decide', test: /\/src\/policy\/(?:decide|rules|defaults|describe-opening|types|paths\/tables)\.ts$/ };

/**
 * Bundles each file of src/main/ (one per process) into dist/, what several need into shared chunks. File names carry no hash: a
 * rebuild replaces them in place, and the compile cache of Node does not grow with every build.
 */
async function bundle() {
  if (process.argv.includes('--if-needed') && isBuilt()) return;
  const started = new Date();
  const entries = existsSync(ENTRIES) ? readdirSync(ENTRIES).filter((name) => /(?<!\.test|\.d)\.ts$/.test(name)) : [];
  if (entries.length === 0) {
    console.log('Nothing to build: src/main/ has no file yet.');
    return;
  }
  mkdirSync(DIST, { recursive: true });
  for (const left of readdirSync(ROOT).filter((name) => name.startsWith(WORK))) rmSync(join(ROOT, left), { recursive: true, force: true });
  const fresh = mkdtempSync(join(ROOT, WORK));
  try {
    const build = await rolldown({
      input: Object.fromEntries(entries.map((name) => [basename(name, '.ts'), join(ENTRIES, name)])),
      platform: 'node',
      external: EXTERNAL,
      // A package's ES modules first: its UMD build (jsonc-parser) requires its own files by computed names, which no bundle can hold.
      resolve: { mainFields: ['module', 'main'] },
      treeshake: { moduleSideEffects: (id) => (definesOnly(id) ? false : undefined) },
      cwd: ROOT,
      onLog: refuse,
    });
    const { output } = await build.write({
      dir: fresh,
      format: 'esm',
      entryFileNames: '[name].js',
      chunkFileNames: 'part-[name].js',
      codeSplitting: { groups: [DECIDES] },
      sourcemap: false,
    });
    await build.close();
    writeFileSync(join(fresh, 'THIRD-PARTY-LICENSES.txt'), licences(output.flatMap((chunk) => chunk.moduleIds ?? [])));
    replace(fresh);
    // What was saved while the build ran must look newer than it.
    const stamp = join(DIST, '.built');
    writeFileSync(stamp, '');
    utimesSync(stamp, started, started);
    console.log(`Built ${entries.length} programs into dist/ (${output.length} files).`);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

/** File by file over the old ones, so that a process that starts meanwhile finds every file. */
function replace(fresh) {
  const names = readdirSync(fresh);
  for (const name of names) renameSync(join(fresh, name), join(DIST, name));
  for (const name of readdirSync(DIST)) if (!names.includes(name)) rmSync(join(DIST, name), { recursive: true });
}

/** A bundle that warns (an import that isn't there, a cycle through a chunk) is not one to ship. */
function refuse(level, log, forward) {
  if (level === 'warn') throw new Error(`rolldown: ${log.message}`);
  forward(level, log);
}

/** The licence of each package whose code is inside. */
function licences(modules) {
  const marker = `${sep}node_modules${sep}`;
  const packages = new Set(
    modules
      .filter((id) => id.includes(marker))
      .map((id) => {
        const start = id.lastIndexOf(marker) + marker.length;
        const [first, second] = id.slice(start).split(sep);
        return join(id.slice(0, start), first.startsWith('@') ? join(first, second) : first);
      }),
  );
  return [...packages]
    .sort()
    .map(licence)
    .join(`\n${'-'.repeat(100)}\n\n`);
}

function licence(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry) && statSync(join(folder, entry)).isFile());
  if (file === undefined) throw new Error(`${relative(ROOT, folder)} has no licence file`);
  return `${name} ${version} (${license})\n\n${readFileSync(join(folder, file), 'utf8').trim()}\n`;
}

main(() => withLock('build', bundle));
