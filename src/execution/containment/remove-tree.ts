import { closeSync, constants, lstatSync, openSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { openUp } from './open-up.ts';

/** Far deeper than anybody means; what is below stays, and the folder with it. */
const DEEPEST = 100;

/**
 * Removes a folder that a run could write in, and all in it. Each folder is held and entered without following a link, so that another
 * run that gets there at the same moment can't lead root somewhere else by swapping one for a link, as it could with `rm -r`.
 * `folder` and `name`: the last step is by a folder that is held.
 */
export function removeTree(folder: string, name: string, depth = 0): void {
  const path = `${folder}/${name}`;
  openUp(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    const here = `/proc/self/fd/${fd}`;
    for (const entry of readdirSync(here)) {
      if (!lstatSync(`${here}/${entry}`).isDirectory()) unlinkSync(`${here}/${entry}`);
      else if (depth < DEEPEST) removeTree(here, entry, depth + 1);
    }
  } finally {
    closeSync(fd);
  }
  rmdirSync(path);
}
