import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export interface Package {
  readonly name: string;
  /** Pinned: what is compared with must be the same one the next time. */
  readonly version: string;
}

/** The program of a package, installed where it isn't there: $WRIT_BENCH_CACHE, else ~/.cache/writ-bench. Undefined: it can't be had here. */
export function install({ name, version }: Package): string | undefined {
  const folder = join(process.env['WRIT_BENCH_CACHE'] ?? join(homedir(), '.cache', 'writ-bench'), name);
  const manifest = join(folder, 'node_modules', name, 'package.json');
  if (read(manifest)?.version !== version) {
    console.error(`Installing ${name}@${version} from the npm registry into ${folder} ...`);
    mkdirSync(folder, { recursive: true });
    // A package of its own, so that npm doesn't look for one further up.
    writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
    const npm = process.env['npm_execpath'];
    const [command = 'npm', ...before] = npm === undefined ? ['npm'] : [process.execPath, npm];
    const how = ['--save-exact', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    spawnSync(command, [...before, 'install', ...how, `${name}@${version}`], { cwd: folder, stdio: ['ignore', 2, 2] });
  }
  const found = read(manifest);
  if (found?.version !== version) return undefined;
  const bin = typeof found.bin === 'string' ? found.bin : found.bin?.[name];
  return bin === undefined ? undefined : join(folder, 'node_modules', name, bin);
}

function read(manifest: string): { readonly version: string; readonly bin?: string | Readonly<Record<string, string>> } | undefined {
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')) : undefined;
}
