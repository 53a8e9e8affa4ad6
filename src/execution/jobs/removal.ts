import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import { REMOVAL_PREFIX } from './layout.ts';

/** Takes a folder away: out of sight first, in one step. True in the one process that did it. */
export function removeFolder(parent: string, id: string): boolean {
  const hidden = join(parent, `${REMOVAL_PREFIX}${id}`);
  try {
    renameSync(join(parent, id), hidden);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return false;
    throw thrown;
  }
  rmSync(hidden, { recursive: true, force: true });
  return true;
}
