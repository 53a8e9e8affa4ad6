import { close, type Stats } from 'node:fs';
import { promisify } from 'node:util';
import type { Found } from './access.ts';
import { fileError } from './file-error.ts';
import { openForReading } from './handle.ts';
import { readBytes } from './read-bytes.ts';

/** Most of a file that is edited in one piece. */
export const MAX_FILE_BYTES = 10 * 1024 * 1024;

const closeFile = promisify(close);

/** A file with what tells later whether it is still that one. Of a larger one the first MAX_FILE_BYTES + 1 bytes; undefined when it is gone. */
export async function readWhole(found: Found, signal: AbortSignal): Promise<{ readonly bytes: Buffer; readonly stat: Stats } | undefined> {
  const opened = openForReading(found.host, found.scene.as);
  if (opened.type === 'folder') throw fileError('folder', `${found.path} is a folder.`, 'Name a file in it.');
  if (opened.type === 'other') throw fileError('not_a_file', `${found.path} is ${opened.what} and not a file.`);
  try {
    return { bytes: await readBytes(opened.fd, 0, MAX_FILE_BYTES + 1, signal), stat: opened.stat };
  } finally {
    await closeFile(opened.fd);
  }
}
