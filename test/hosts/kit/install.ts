import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Host } from './host.ts';

/** The host's program in its pinned version, installed into the cache where it isn't there: $WRIT_HOSTS_CACHE, else ~/.cache/writ-hosts. */
export function install(host: Host): string {
  const folder = join(process.env['WRIT_HOSTS_CACHE'] ?? join(homedir(), '.cache', 'writ-hosts'), host.folder);
  const program = join(folder, 'node_modules', '.bin', host.bin);
  if (installedVersion(folder, host) === host.version && existsSync(program)) return program;
  console.error(`Installing ${host.package}@${host.version} from the npm registry into ${folder} (some hundred megabytes) ...`);
  mkdirSync(folder, { recursive: true });
  // A package of its own, so that npm doesn't look for one further up.
  writeFileSync(join(folder, 'package.json'), '{"private": true}\n');
  const npm = process.env['npm_execpath'];
  const [command, ...before] = npm === undefined ? ['npm'] : [process.execPath, npm];
  const args = [...before, 'install', '--save-exact', '--no-audit', '--no-fund', '--loglevel=error', `${host.package}@${host.version}`];
  // Their install scripts put native programs in place, so unlike in the checkout they run.
  const { status } = spawnSync(command ?? 'npm', args, { cwd: folder, stdio: ['ignore', 2, 2] });
  if (status !== 0 || installedVersion(folder, host) !== host.version)
    throw new Error(`${host.package}@${host.version} could not be installed`);
  return program;
}

function installedVersion(folder: string, host: Host): string | undefined {
  const file = join(folder, 'node_modules', host.package, 'package.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { version: string }).version : undefined;
}
