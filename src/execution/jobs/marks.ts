import { errnoOf } from '../../kernel/errors.ts';
import { createJson, readJson } from './json-file.ts';
import { markRecord } from './records.ts';

/**
 * Makes a once-only mark; true for the one who made it. False, too, when the folder was removed in between, and on a full disk:
 * what isn't marked is simply done later.
 */
export function setMark(folder: string, name: string, now: number): boolean {
  try {
    return createJson(folder, name, { at: now }, { durable: false });
  } catch (thrown) {
    if (['ENOENT', 'ENOSPC', 'EDQUOT'].includes(errnoOf(thrown) ?? '')) return false;
    throw thrown;
  }
}

/** When a mark was made. A damaged mark was made all the same: it counts, with the time unknown. */
export function markedAt(folder: string, name: string): number | undefined {
  const mark = readJson(folder, name, markRecord);
  if (mark.ok) return mark.value.at;
  return mark.missing ? undefined : 0;
}
