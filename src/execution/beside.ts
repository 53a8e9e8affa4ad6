import { existsSync } from 'node:fs';
import { findChromium, INSTALL_CHROMIUM } from './browser/find-chromium.ts';
import { ENGINES } from './container/engine.ts';
import { findRipgrep, INSTALL_RIPGREP } from './files/find-ripgrep.ts';

/** A program that Writ uses where it is installed, beside what contains commands. */
export interface ProgramBeside {
  readonly name: string;
  readonly used_for: string;
  /** Absent: not found. That it works isn't said. */
  readonly path?: string;
  readonly fix: string;
}

export function programsBeside(): readonly ProgramBeside[] {
  const engine = ENGINES.find(({ path }) => existsSync(path));
  return [
    row('ripgrep', 'the tool search_files', findRipgrep(), INSTALL_RIPGREP),
    row('Chromium', 'the tool browser; without it pages are fetched and read', findChromium(), INSTALL_CHROMIUM),
    row(engine?.kind ?? 'Podman or Docker', '--sandbox', engine?.path, 'Install it: `apt-get install podman` (Debian, Ubuntu), or Docker.'),
  ];
}

function row(name: string, used_for: string, path: string | undefined, fix: string): ProgramBeside {
  return { name, used_for, ...(path === undefined ? {} : { path }), fix };
}
