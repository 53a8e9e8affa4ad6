import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './checkout.mjs';

/** What the bundle is made from. Folders count too: a removed file changes only its folder. `./writ` asks the same of `find`. */
const SOURCES = ['src', 'scripts/bundle.mjs', 'package.json', 'package-lock.json'];

/** Is dist/ newer than everything it is made from? */
export function isBuilt() {
  const built = statSync(join(ROOT, 'dist', '.built'), { throwIfNoEntry: false });
  return built !== undefined && SOURCES.every((source) => newest(join(ROOT, source)) <= built.mtimeMs);
}

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return readdirSync(path).reduce((latest, name) => Math.max(latest, newest(join(path, name))), mtimeMs);
}
