import type { SpoolPage } from '../types.ts';
import { look } from './folder.ts';

/** Reads a spool by cursor, also while it is being written; `over`: nothing more will be written. */
export type SpoolReader = (
  folder: string,
  request: { readonly cursor: number; readonly max_bytes: number; readonly over: boolean },
) => Promise<SpoolPage>;

/** A page of the output of one execution; `end` once it is over and everything spooled was read. */
export async function readOutput(
  folder: string,
  request: { readonly cursor: number; readonly max_bytes: number },
  readSpool: SpoolReader,
): Promise<SpoolPage | undefined> {
  // Asked before the spool is read: what was over by then has nothing more to come.
  const sight = look(folder);
  if (sight.type === 'absent') return undefined;
  const over = sight.type !== 'open';
  const page = await readSpool(folder, { cursor: request.cursor, max_bytes: request.max_bytes, over });
  // A spool is closed a moment before the result is there: whoever reads "end" finds the result too.
  return over ? page : { ...page, end: false };
}
