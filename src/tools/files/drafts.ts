import { randomBytes } from 'node:crypto';
import { lstatSync, opendirSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import type { Held } from './handle.ts';

const DRAFT = /^\.writ-[0-9a-f]{16}\.tmp$/;
/** A draft is made, written and renamed in one go of at most some megabytes: an older one belongs to nobody any more. */
const ABANDONED_MS = 60_000;
/** Entries that are looked through: a folder of millions must not make each write in it slow. */
const MOST_LOOKED_AT = 2_000;

export function draftName(): string {
  return `.writ-${randomBytes(8).toString('hex')}.tmp`;
}

/**
 * Removes what a process that was killed between writing and renaming has left in a folder. Whoever writes there next does it: nobody else
 * knows where to look, and a note of every write beside it would cost more than what is left behind once in a while.
 */
export function sweepDrafts(folder: Held, now: number): void {
  unlessNotOurs(() => {
    const entries = opendirSync(folder.name);
    try {
      for (let looked = 0; looked < MOST_LOOKED_AT; looked++) {
        const entry = entries.readSync();
        if (entry === null) return;
        if (entry.isFile() && DRAFT.test(entry.name)) unlessNotOurs(() => removeIfAbandoned(`${folder.name}/${entry.name}`, now));
      }
    } finally {
      entries.closeSync();
    }
  });
}

function removeIfAbandoned(path: string, now: number): void {
  if (now - lstatSync(path).mtimeMs >= ABANDONED_MS) unlinkSync(path);
}

/** A folder that may be written and not be looked into, a draft that somebody else has removed or owns: no reason not to write. */
function unlessNotOurs(work: () => void): void {
  try {
    work();
  } catch (thrown) {
    if (!['ENOENT', 'EPERM', 'EACCES', 'EROFS'].includes(errnoOf(thrown) ?? '')) throw thrown;
  }
}
