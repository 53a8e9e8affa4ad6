import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs';
import { errnoOf } from './errors.ts';

export type PlainFile =
  | { readonly state: 'read'; readonly bytes: Buffer; readonly stat: Stats }
  /** There is no such file, or no such folder. */
  | { readonly state: 'absent' }
  /** Why, as the end of a sentence. */
  | { readonly state: 'refused'; readonly why: string };

/** Reads a file of our own whole: a link of its name isn't followed, a pipe isn't waited for, and nothing of more than `most` bytes is taken. */
export function readPlainFile(path: string, most: number): PlainFile {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    const errno = errnoOf(thrown);
    return errno === 'ENOENT' || errno === 'ENOTDIR' ? { state: 'absent' } : { state: 'refused', why: `it can't be opened (${errno})` };
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > most) return { state: 'refused', why: 'it is no plain file of that size' };
    return { state: 'read', bytes: readFileSync(fd), stat };
  } catch (thrown) {
    return { state: 'refused', why: `it can't be read (${errnoOf(thrown)})` };
  } finally {
    closeSync(fd);
  }
}
