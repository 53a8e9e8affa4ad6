import { randomBytes } from 'node:crypto';
import { lstatSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { errnoOf } from '../../kernel/errors.ts';

/**
 * Files are written under a name that nobody looks at, and then get theirs: whole or not at all. A blank is one that is made empty before
 * it is needed, since making a file takes longer than writing it: much longer where many have just been removed (carriers.ts).
 */
const BLANK_PREFIX = '.blank-';

/** One for each of these names. */
export async function makeBlanks(folder: string, names: readonly string[]): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const file = await open(`${folder}/${BLANK_PREFIX}${name}`, 'wx', 0o600);
      await file.close();
    }),
  );
}

/** The hidden name of what is to be `name`; its blank, where there is one. */
export function writeHidden(folder: string, name: string, content: string, durable: boolean): string {
  const hidden = `${folder}/.${name}.${randomBytes(6).toString('hex')}`;
  const blank = takeBlank(`${folder}/${BLANK_PREFIX}${name}`, hidden);
  try {
    writeFileSync(hidden, content, { mode: 0o600, flag: blank ? 'r+' : 'wx', flush: durable });
  } catch (thrown) {
    removeHidden(hidden);
    throw thrown;
  }
  return hidden;
}

/** By renaming, so that of several processes one has it. */
function takeBlank(blank: string, as: string): boolean {
  // Most often there is one or never was, and an exception costs more than a look.
  if (lstatSync(blank, { throwIfNoEntry: false })?.isFile() !== true) return false;
  try {
    renameSync(blank, as);
    return true;
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
    return false;
  }
}

/** `unlink` and nothing else: this is on the way of every answer. */
export function removeHidden(path: string): void {
  try {
    unlinkSync(path);
  } catch (thrown) {
    if (errnoOf(thrown) !== 'ENOENT') throw thrown;
  }
}
