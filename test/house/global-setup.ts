import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** The Writ homes that no test may touch: the one of the account and the one that HOME names. */
const REAL_HOMES = [...new Set([userInfo().homedir, process.env['HOME'] ?? '/'])].map((home) => join(home, '.writ'));

/** Gives every test a HOME and a WRIT_HOME of this run's own, and fails the run if a real Writ home changed meanwhile. */
export default function setup(): () => void {
  const before = REAL_HOMES.map(fingerprint);
  const folder = mkdtempSync(join(tmpdir(), 'writ-tests-'));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  process.env['HOME'] = home;
  process.env['WRIT_HOME'] = join(home, '.writ');
  // Programs are started from their sources hundreds of times.
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compiled');
  return () => {
    rmSync(folder, { recursive: true, force: true });
    const touched = REAL_HOMES.filter((path, index) => fingerprint(path) !== before[index]);
    if (touched.length === 0) return;
    throw new Error(
      `${touched.join(', ')} changed while the tests ran. A test works on the real home, or a Writ of yours ran meanwhile: stop it and run again.`,
    );
  };
}

/** Changes with every entry that is made, removed, written or renamed; nothing is read but names and metadata. */
function fingerprint(path: string): string {
  const hash = createHash('sha256');
  const visit = (entry: string): void => {
    const facts = lstatSync(entry, { throwIfNoEntry: false });
    if (facts === undefined) return;
    hash.update(`${entry}\0${facts.ino} ${facts.size} ${facts.ctimeMs}\n`);
    if (facts.isDirectory()) for (const name of readdirSync(entry).sort()) visit(join(entry, name));
  };
  visit(path);
  return hash.digest('hex');
}
