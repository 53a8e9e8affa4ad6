import { basename, dirname, join } from 'node:path';
import type { RunSpec } from '../types.ts';
import { realPath } from './look.ts';

/**
 * A path that is a link, or is reached through one, is opened by both of its names: policy names the other one too. Inside there is no link, what it
 * leads to is at both places. A link whose end wasn't opened stays as it is, and is refused.
 */
export function withTargets(openings: RunSpec['openings']): RunSpec['openings'] {
  return openings.map((opening) => {
    const target = realPlace(opening.path);
    if (target === undefined || target === opening.path) return opening;
    const covered = openings.some(({ path, access }) => path === target && (access === 'write' || opening.access === 'read'));
    return covered ? { ...opening, target } : opening;
  });
}

/** Of what isn't there yet, where it would be. */
function realPlace(path: string): string | undefined {
  const found = realPath(path);
  if (found !== undefined) return found;
  const folder = realPath(dirname(path));
  return folder === undefined ? undefined : join(folder, basename(path));
}
