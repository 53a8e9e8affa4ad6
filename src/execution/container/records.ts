import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';

const PREFIX = 'box-';

/** One empty file for each container that may be there, so that a start of Writ asks an engine only where there is something to ask for. */
const folderOf = (home: string): string => join(home, 'containers');

export function recordContainer(home: string, name: string): void {
  mkdirSync(folderOf(home), { recursive: true, mode: 0o700 });
  writeFileSync(join(folderOf(home), PREFIX + name), '', { mode: 0o600 });
}

export function forgetContainer(home: string, name: string): void {
  rmSync(join(folderOf(home), PREFIX + name), { force: true });
}

export function recordedContainers(home: string): readonly string[] {
  try {
    return readdirSync(folderOf(home)).flatMap((file) => (file.startsWith(PREFIX) ? [file.slice(PREFIX.length)] : []));
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
