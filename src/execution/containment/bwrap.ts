import { existsSync } from 'node:fs';
import { AppError } from '../../kernel/errors.ts';

const INSTALL =
  'Install it: `apt-get install bubblewrap` (Debian, Ubuntu), `dnf install bubblewrap` (Fedora, RHEL), `pacman -S bubblewrap` (Arch).';

/** The first candidate that exists. */
export function findBwrap(candidates: readonly string[]): string {
  const found = candidates.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new AppError('containment_unavailable', `bubblewrap is not installed (looked at ${candidates.join(', ')}).`, {
    fix: INSTALL,
  });
}
