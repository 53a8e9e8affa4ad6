import { cpSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

/** Where one run of the benchmarks happens: a Writ home, Workspaces and the built program, below one temporary folder. */
export interface Place {
  /** An empty folder that is there only for the caller. */
  folder(name: string): string;
  /** `bin/writ.mjs` of an installed copy: a build that is made meanwhile changes nothing. */
  readonly program: string;
  /** The runner of the same copy. */
  readonly runner: string;
  remove(): void;
}

const CHECKOUT = resolve(import.meta.dirname, '..');

export function makePlace(): Place {
  if (!existsSync(join(CHECKOUT, 'dist', 'cli.js'))) throw new Error('Build first: npm run build');
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-bench-')));
  const installed = join(base, 'installed');
  mkdirSync(installed);
  for (const part of ['bin', 'dist', 'package.json']) cpSync(join(CHECKOUT, part), join(installed, part), { recursive: true });
  // Sources that are measured in this process find their packages through it.
  symlinkSync(join(CHECKOUT, 'node_modules'), join(installed, 'node_modules'));
  writeFileSync(join(base, 'note.txt'), 'Left by npm run bench of Writ; may be removed.\n');
  return {
    folder(name) {
      const path = join(base, name);
      mkdirSync(path, { recursive: true, mode: 0o700 });
      return path;
    },
    program: join(installed, 'bin', 'writ.mjs'),
    runner: join(installed, 'dist', 'runner.js'),
    remove: () => rmSync(base, { recursive: true, force: true }),
  };
}
