import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
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

/** "0.8.0", or "unknown": the probe decides what works, the version is for people. */
export async function bwrapVersion(path: string): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 5000, env: {} }).catch(() => ({ stdout: '' }));
  return /(\d+\.\d+(?:\.\d+)?)/.exec(stdout)?.[1] ?? 'unknown';
}
