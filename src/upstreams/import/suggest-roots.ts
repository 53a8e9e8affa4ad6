import { existsSync, realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';

const SCRIPT = /\.(?:[cm]?[jt]s|py|rb|jar|sh)$/;
const PACKAGE = ['package.json', 'pyproject.toml'];
/** A script of a package is mostly not deeper in it. */
const LEVELS = 4;

/** Folders that a program will need: those among its arguments, and those that its own code lies in. What doesn't exist, or is no folder to give away, is nothing to suggest. */
export function suggestRoots(words: readonly string[], fits: (path: string) => boolean): readonly string[] {
  const found = words.flatMap((word) => {
    const path = word.replace(/^--[\w-]+=/, '');
    if (!isAbsolute(path) || path === '/') return [];
    const kind = kindOf(path);
    if (kind === 'folder') return [path];
    return kind === 'file' && SCRIPT.test(path) ? [packageOf(realOf(path))] : [];
  });
  return [...new Set(found)].filter(fits);
}

function packageOf(file: string): string {
  let at = dirname(file);
  for (let level = 0; level < LEVELS && at !== '/'; level++, at = dirname(at)) {
    if (PACKAGE.some((name) => existsSync(join(at, name)))) return at;
  }
  return dirname(file);
}

function kindOf(path: string): 'folder' | 'file' | undefined {
  try {
    const stat = statSync(path);
    return stat.isDirectory() ? 'folder' : stat.isFile() ? 'file' : undefined;
  } catch {
    return undefined;
  }
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
