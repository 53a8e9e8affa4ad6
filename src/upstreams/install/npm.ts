import { closeSync, openSync, readFileSync, readSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join, normalize, relative } from 'node:path';
import * as z from 'zod';
import { AppError } from '../../kernel/errors.ts';
import { readNpmSettings } from './npm-settings.ts';
import { reachOf } from './reach.ts';
import type { Found, Installer, Program, Wanted } from './types.ts';

const SETTINGS = '.npmrc';
const LOCK = 'package-lock.json';
const MAX_SHEBANG = 256;

/** No script of any package runs, and nothing of git is fetched: its repositories can name programs that run while they are. */
const OPTIONS = [
  '--ignore-scripts',
  '--allow-git=none',
  '--save',
  '--save-exact',
  '--package-lock',
  '--install-strategy=hoisted',
  '--omit=dev',
  '--include=optional',
  '--include=peer',
  '--global=false',
  '--dry-run=false',
  '--audit=false',
  '--fund=false',
  '--update-notifier=false',
  '--progress=false',
  '--loglevel=error',
] as const;

const lockSchema = z.object({
  packages: z.record(z.string(), z.object({ version: z.string().optional(), integrity: z.string().optional() })),
});
const manifestSchema = z.object({ name: z.string(), bin: z.union([z.string(), z.record(z.string(), z.string())]).optional() });

export const npmInstaller: Installer = {
  prepare(wanted, folder, parts) {
    if (!parts.has('npm')) {
      throw new AppError('not_found', 'npm, which packages are installed with, is not on the PATH.', { fix: 'Install Node.js with npm.' });
    }
    const { text, registries, proxy } = readNpmSettings(parts, folder);
    // The lock bears this name, and its digest must not depend on where it lies.
    writeFileSync(join(folder, 'package.json'), '{ "name": "installed-by-writ", "version": "0.0.0", "private": true }\n');
    writeFileSync(join(folder, SETTINGS), text, { mode: 0o600 });
    const named = wanted.registry === undefined ? [] : [wanted.registry];
    return {
      argv: ['npm', 'install', ...OPTIONS, ...named.map((url) => `--registry=${url}`), '--', ...wanted.specs],
      env: proxy ?? {},
      folder,
      network: proxy === undefined ? reachOf('npm', [...registries, ...named]) : 'full',
    };
  },

  read(wanted, folder): Found {
    // It may hold a credential.
    for (const name of [SETTINGS, '.authorities.pem']) rmSync(join(folder, name), { force: true });
    const lock = lockSchema.parse(jsonAt(join(folder, LOCK)));
    const names = wanted.specs.map((spec) => spec.replace(/(?<=.)@.*$/s, ''));
    const [name = ''] = names;
    const { version, integrity } = lock.packages[`node_modules/${name}`] ?? {};
    if (version === undefined) throw new AppError('internal', `npm has not installed ${name}.`);
    const program = programOf(wanted, names, folder);
    const manifest = join('node_modules', name, 'package.json');
    return {
      package: name,
      version,
      ...(integrity === undefined ? {} : { integrity }),
      packages: Object.keys(lock.packages).filter((path) => path !== '').length,
      lock: LOCK,
      program,
      watched: [LOCK, manifest, program.type === 'node' ? program.script : program.type === 'file' ? program.path : ''].filter(Boolean),
    };
  },
};

/** The same one that npx starts. */
function programOf(wanted: Wanted, names: readonly string[], folder: string): Program {
  const [first = ''] = names;
  const bins = names.map((name) => binsOf(join(folder, 'node_modules', name)));
  const own = bins[0]?.files ?? {};
  const wantedBin = wanted.bin ?? commandOf(first, own);
  const at = bins.find(({ files }) => wantedBin !== undefined && Object.hasOwn(files, wantedBin));
  const path =
    wantedBin === undefined
      ? undefined
      : at === undefined
        ? within(join(folder, 'node_modules/.bin', wantedBin), folder)
        : within(join(at.root, at.files[wantedBin] ?? ''), folder);
  if (path === undefined) {
    const known = bins.flatMap(({ files }) => Object.keys(files)).join(', ') || 'none';
    throw new AppError(
      'not_found',
      `${first} has no program ${wanted.bin === undefined ? 'of its own name' : JSON.stringify(wanted.bin)}; it has: ${known}.`,
      {
        fix: 'Name one of them: `npx -y --package=PACKAGE PROGRAM`.',
      },
    );
  }
  const words = shebangOf(join(folder, path));
  const at_node = words.findIndex((word) => /(?:^|\/)node$/.test(word));
  if (at_node >= 0) return { type: 'node', script: path, flags: words.slice(at_node + 1) };
  return words.length === 0 && /\.[cm]?js$/.test(path) ? { type: 'node', script: path, flags: [] } : { type: 'file', path };
}

function binsOf(root: string): { readonly root: string; readonly files: Readonly<Record<string, string>> } {
  const { name, bin = {} } = manifestSchema.parse(jsonAt(join(root, 'package.json')));
  const files = typeof bin === 'string' ? { [unscoped(name)]: bin } : bin;
  return { root, files: Object.fromEntries(Object.entries(files).map(([key, path]) => [key, normalize(path)])) };
}

function commandOf(name: string, files: Readonly<Record<string, string>>): string | undefined {
  if (new Set(Object.values(files)).size === 1) return Object.keys(files)[0];
  return Object.hasOwn(files, unscoped(name)) ? unscoped(name) : undefined;
}

const unscoped = (name: string): string => name.replace(/^@[^/]+\//, '');

/** Relative to the folder, links resolved; undefined: it isn't there, or leads out. */
function within(path: string, folder: string): string | undefined {
  try {
    const found = relative(realpathSync(folder), realpathSync(path));
    return found === '' || found.startsWith('..') ? undefined : found;
  } catch {
    return undefined;
  }
}

function shebangOf(path: string): readonly string[] {
  const fd = openSync(path, 'r');
  try {
    const bytes = Buffer.alloc(MAX_SHEBANG);
    const text = bytes.toString('latin1', 0, readSync(fd, bytes, 0, MAX_SHEBANG, 0));
    return /^#!\s*([^\r\n]*)/.exec(text)?.[1]?.trim().split(/\s+/) ?? [];
  } finally {
    closeSync(fd);
  }
}

function jsonAt(path: string): unknown {
  return JSON.parse(readFileSync(path, 'utf8'));
}
