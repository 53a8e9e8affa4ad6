import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What the tests of one file share so that each Writ process in them starts in a third of the time: code that is compiled once, and the
 * proof of containment that the first of them has made. It is believed only while all it depends on is the same, as in any home.
 */
export interface Prepared {
  /** For the environment of a process that runs from its sources. */
  readonly env: { readonly NODE_COMPILE_CACHE: string };
  giveProof(home: string): void;
  keepProof(home: string): void;
}

export function createPrepared(): Prepared {
  const root = mkdtempSync(join(tmpdir(), 'writ-prepared-'));
  process.once('exit', () => rmSync(root, { recursive: true, force: true }));
  const kept = join(root, 'proofs');
  return {
    env: { NODE_COMPILE_CACHE: join(root, 'compiled') },
    giveProof(home) {
      if (existsSync(kept)) cpSync(kept, join(home, 'proofs'), { recursive: true });
    },
    keepProof(home) {
      const made = join(home, 'proofs');
      if (!existsSync(kept) && existsSync(made)) cpSync(made, kept, { recursive: true });
    },
  };
}
