import { execFileSync } from 'node:child_process';
import {
  chownSync,
  cpSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

export function put(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

export function give(path: string, uid: number | undefined): void {
  if (uid === undefined) return;
  if (statSync(path).isDirectory()) {
    for (const entry of readdirSync(path, { withFileTypes: true, recursive: true }))
      lchownSync(join(entry.parentPath, entry.name), uid, uid);
  }
  chownSync(path, uid, uid);
}

/** Makes a folder hold what another one holds, but for the entries that are kept. Returns what was made. */
export function copyFresh(from: string, to: string, keep: ReadonlySet<string>): readonly string[] {
  for (const name of readdirSync(to)) if (!keep.has(name)) rmSync(join(to, name), { recursive: true, force: true });
  cpSync(from, to, { recursive: true });
  return readdirSync(from).map((name) => join(to, name));
}

/** One line a file: its name and content, or where a link leads; nothing for what isn't there. */
export function describePath(path: string, name = path, skip: ReadonlySet<string> = new Set()): readonly string[] {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return [];
  if (stat.isSymbolicLink()) return [`${name}: -> ${readlinkSync(path)}`];
  if (stat.isFile()) return [`${name}: ${JSON.stringify(readFileSync(path, 'latin1'))}`];
  if (!stat.isDirectory()) return [`${name}: special`];
  const entries = readdirSync(path).filter((entry) => !skip.has(entry));
  return [`${name}/`, ...entries.flatMap((entry) => describePath(join(path, entry), `${name}/${entry}`, skip))];
}

/** Some attempts lock their folders, which keeps an ordinary user from removing them. */
export function unlock(folder: string): void {
  if (process.getuid?.() !== 0) execFileSync('chmod', ['-R', 'u+rwX', folder]);
}
