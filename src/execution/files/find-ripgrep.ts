import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Where a distribution puts it. */
const SYSTEM_RG = ['/usr/bin/rg', '/usr/local/bin/rg'] as const;

export const INSTALL_RIPGREP = 'Install Writ with its optional packages, or ripgrep itself: apt-get install ripgrep';

/** The binary of the optional package for this machine, else the system's. */
export function findRipgrep(): string | undefined {
  try {
    // It belongs to that package, which alone may be able to find it (pnpm).
    const facade = createRequire(import.meta.url).resolve('@vscode/ripgrep');
    return createRequire(facade).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`);
  } catch {
    // Not installed: optional packages are left out where they don't fit.
  }
  return SYSTEM_RG.find((path) => existsSync(path));
}
