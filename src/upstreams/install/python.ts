import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { reachOf } from './reach.ts';
import type { Found, Installer } from './types.ts';

const SITE = 'site';
const LOCK = 'installed.json';

/**
 * Packages lie in a folder of their own and not in a virtual environment, whose files name the place where it was made. Only built ones
 * are taken: building runs what the package says. Starts a console script (entry points specification, "Use for scripts"): the folder
 * it starts in is no place for modules, since a server mostly starts among files of others.
 */
const START = [
  'import sys',
  '_, folder, name, entry, *rest = sys.argv',
  'sys.path[:] = [one for one in sys.path if one]',
  'import importlib, site',
  'site.addsitedir(folder)',
  'sys.argv = [name, *rest]',
  'module, _, attribute = entry.partition(":")',
  'found = importlib.import_module(module)',
  'for part in attribute.split("."): found = getattr(found, part)',
  'sys.exit(found())',
].join('\n');

export function pythonStart(folder: string, name: string, entry: string): readonly string[] {
  return ['python3', '-s', '-c', START, folder, name, entry];
}

export const pythonInstaller: Installer = {
  prepare(wanted, folder, { has, host_env }) {
    const uv = has('uv');
    if (!uv && !has('python3')) {
      throw new AppError('not_found', 'Neither uv nor python3, which Python packages are installed with, is on the PATH.', {
        fix: 'Install uv (https://docs.astral.sh/uv/), or Python 3 with pip.',
      });
    }
    const target = ['--target', join(folder, SITE), '--only-binary', ':all:'];
    const index = wanted.registry === undefined ? [] : ['--index-url', wanted.registry];
    const configured = host_env['UV_DEFAULT_INDEX'] ?? host_env['UV_INDEX_URL'] ?? host_env['PIP_INDEX_URL'];
    const given = index.length === 0 && configured !== undefined ? ['--index-url', configured] : index;
    return {
      argv: uv
        ? ['uv', 'pip', 'install', '--python', 'python3', '--no-progress', ...target, ...given, ...wanted.specs]
        : [
            ...['python3', '-m', 'pip', 'install', '--no-input', '--no-user', '--no-compile', '--progress-bar', 'off', '-q'],
            ...['--disable-pip-version-check', '--no-warn-script-location', ...target, ...given, ...wanted.specs],
          ],
      env: {},
      folder,
      network: reachOf('pypi', given.slice(1)),
    };
  },

  read(wanted, folder): Found {
    const site = join(folder, SITE);
    const all = distributions(site);
    const names = wanted.specs.map((spec) => normal(/^[A-Za-z0-9._-]+/.exec(spec)?.[0] ?? ''));
    const own = all.find(({ name }) => name === names[0]);
    if (own === undefined) throw new AppError('internal', `${wanted.specs[0]} was not installed.`);
    // Every RECORD has a digest of every file of its package.
    const lock = all.map(({ folder, name, version }) => ({ name, version, record: digest(textAt(join(site, folder, 'RECORD'))) }));
    writeFileSync(join(folder, LOCK), `${JSON.stringify(lock, null, 1)}\n`);
    const named = names.flatMap((name) => all.filter((one) => one.name === name));
    const bin = wanted.bin ?? own.name;
    const from = [...named, ...all].find(({ scripts }) => scripts.has(bin));
    const entry = from?.scripts.get(bin);
    if (from === undefined || entry === undefined) {
      const known = named.flatMap(({ scripts }) => [...scripts.keys()]).join(', ') || 'none';
      throw new AppError('not_found', `${own.name} has no program ${JSON.stringify(bin)}; it has: ${known}.`, {
        fix: 'Name one of them: `uvx --from PACKAGE PROGRAM`.',
      });
    }
    const module = join(SITE, ...(entry.split(':')[0] ?? '').split('.'));
    const files = [`${module}.py`, join(module, '__init__.py'), join(SITE, from.folder, 'entry_points.txt')];
    return {
      package: own.name,
      version: own.version,
      integrity: `sha256:${digest(textAt(join(site, own.folder, 'RECORD')))}`,
      packages: all.length,
      lock: LOCK,
      program: { type: 'python', site: SITE, name: bin, entry },
      watched: [LOCK, ...files.filter((file) => existsSync(join(folder, file)))],
    };
  },
};

interface Distribution {
  readonly folder: string;
  readonly name: string;
  readonly version: string;
  /** `module:function`, by name. */
  readonly scripts: ReadonlyMap<string, string>;
}

function distributions(site: string): readonly Distribution[] {
  const folders = existsSync(site) ? readdirSync(site).filter((name) => name.endsWith('.dist-info')) : [];
  return folders.sort().map((folder) => {
    const metadata = textAt(join(site, folder, 'METADATA'));
    const header = (name: string): string => new RegExp(`^${name}:\\s*(\\S+)`, 'm').exec(metadata)?.[1] ?? '';
    return {
      folder,
      name: normal(header('Name')),
      version: header('Version'),
      scripts: scriptsOf(textAt(join(site, folder, 'entry_points.txt'))),
    };
  });
}

function scriptsOf(text: string): ReadonlyMap<string, string> {
  const section = /^\[console_scripts\]\s*\n([^[]*)/m.exec(text)?.[1] ?? '';
  return new Map([...section.matchAll(/^\s*([\w.-]+)\s*=\s*([\w.]+:[\w.]+)/gm)].map(([, name = '', entry = '']) => [name, entry]));
}

/** https://packaging.python.org/en/latest/specifications/name-normalization/ */
function normal(name: string): string {
  return name.replace(/[-_.]+/g, '-').toLowerCase();
}

function textAt(path: string): string {
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
