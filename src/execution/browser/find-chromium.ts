import { accessSync, constants, realpathSync, statSync } from 'node:fs';

/**
 * Where distributions put it, in order. The programs themselves come before the scripts around them, which read files that a sandbox
 * doesn't have.
 */
export const CHROMIUM_CANDIDATES: readonly string[] = [
  '/usr/lib/chromium/chromium',
  '/usr/lib64/chromium-browser/chromium-browser',
  '/usr/lib/chromium-browser/chromium-browser',
  '/opt/google/chrome/chrome',
  '/opt/chromium.org/chromium/chromium',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

/** The first that is a program, by its real path. */
export function findChromium(candidates: readonly string[] = CHROMIUM_CANDIDATES): string | undefined {
  for (const path of candidates) {
    try {
      accessSync(path, constants.X_OK);
      if (statSync(path).isFile()) return realpathSync(path);
    } catch {
      // Not there, or not for this user: the next one.
    }
  }
  return undefined;
}

export const INSTALL_CHROMIUM =
  'Install it: `apt-get install chromium` (Debian), `dnf install chromium` (Fedora), `pacman -S chromium` (Arch), or Google Chrome. The snap of Ubuntu does not work inside a sandbox.';
