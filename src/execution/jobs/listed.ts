import { statSync } from 'node:fs';
import type { JobId } from '../../kernel/ids.ts';
import { idsIn } from './admission.ts';

/** A change that follows another at once may leave the folder with the same time: what is younger than this is listed again. */
const SETTLED_MS = 2_000;

/**
 * The jobs there are, for whoever asks after every call: where the folder didn't change since it was listed, one look at it tells so. The
 * same list stays the same object.
 */
export function createListed(folder: string): () => readonly JobId[] {
  let last: { readonly ino: number; readonly mtimeMs: number; readonly ctimeMs: number; readonly ids: readonly JobId[] } | undefined;
  return () => {
    const now = Date.now();
    const { ino, mtimeMs, ctimeMs } = statSync(folder);
    if (last !== undefined && last.ino === ino && last.mtimeMs === mtimeMs && last.ctimeMs === ctimeMs) return last.ids;
    const ids = idsIn('job', folder);
    last = now - Math.max(mtimeMs, ctimeMs) > SETTLED_MS ? { ino, mtimeMs, ctimeMs, ids } : undefined;
    return ids;
  };
}
