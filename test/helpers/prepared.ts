import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * What tests share so that each Writ process in them starts in a third of the time: code that is compiled once, and, among the tests of one
 * process, the proof of containment that the first has made. It is believed only while all it depends on is the same, as in any home.
 */
interface Prepared {
  /** For the environment of a process that runs from its sources. */
  readonly env: { readonly NODE_COMPILE_CACHE: string };
  giveProof(home: string): void;
  keepProof(home: string): void;
}

export const PREPARED = createPrepared();

function createPrepared(): Prepared {
  const proofs = new Map<string, string>();
  return {
    env: { NODE_COMPILE_CACHE: compiledFolder() },
    giveProof(home) {
      if (proofs.size === 0) return;
      mkdirSync(join(home, 'proofs'), { recursive: true, mode: 0o700 });
      for (const [name, text] of proofs) writeFileSync(join(home, 'proofs', name), text, { mode: 0o600 });
    },
    keepProof(home) {
      if (!existsSync(join(home, 'proofs'))) return;
      for (const name of readdirSync(join(home, 'proofs'))) proofs.set(name, readFileSync(join(home, 'proofs', name), 'utf8'));
    },
  };
}

/** One for all runs of this user: it holds one entry a source file. Processes write to it at their end, which may come after the tests'. */
function compiledFolder(): string {
  const folder = join(tmpdir(), `writ-tests-compiled-${process.getuid?.()}`);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { uid, mode } = lstatSync(folder);
  const ours = uid === process.getuid?.() && (mode & 0o170022) === 0o040000;
  return ours ? folder : mkdtempSync(`${folder}-`);
}
