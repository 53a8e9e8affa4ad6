import { lstatSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { ProbeMode, Proof, ProofStore } from '../core-types.ts';
import { readJson, writeJson } from '../jobs/json-file.ts';
import { DIMENSIONS } from '../types.ts';

const dimension = z.strictObject({
  state: z.enum(['enforced', 'best_effort', 'not_enforced']),
  by: z.string().exactOptional(),
  reason: z.string().exactOptional(),
});

const proofRecord = z.object({
  key: z.string().min(1),
  probed_at: z.int().nonnegative(),
  report: z.object({
    backend: z.enum(['bubblewrap', 'container']),
    dimensions: z.record(z.enum(DIMENSIONS), dimension),
    notes: z.array(z.string()),
  }),
  backend_version: z.string(),
});

export const PROOFS = 'proofs';

/**
 * Proofs in the Writ home, one file a mode (`proofs/self.json`, `proofs/dropped.json`), so that neither a new `writ mcp` nor the
 * runner of a job waits for what another process has just seen. Whoever can write there could claim containment that isn't; the
 * same hand could rewrite the policy, and a false claim still starts nothing outside of a sandbox: the flags are those of the plan.
 */
export function createProofStore(home: string, logger: Logger): ProofStore {
  const folder = join(home, PROOFS);
  const fileOf = (mode: ProbeMode): string => `${mode}.json`;
  return {
    load(mode): Proof | undefined {
      const name = fileOf(mode);
      if (!isOwn(join(folder, name))) return undefined;
      const found = readJson(folder, name, proofRecord);
      if (found.ok) return found.value;
      logger.warn('a kept proof of containment is not used', { reason: found.reason });
      return undefined;
    },
    save(mode, proof) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeJson(folder, fileOf(mode), proof, { durable: false });
      } catch (thrown) {
        logger.warn('a proof of containment could not be kept', { reason: toAppError(thrown).message });
      }
    },
    drop(mode) {
      try {
        rmSync(join(folder, fileOf(mode)), { force: true });
      } catch (thrown) {
        logger.warn('a proof of containment could not be dropped', { reason: toAppError(thrown).message });
      }
    },
  };
}

/** A plain file of this user that nobody else can write or has been shown. Whatever can't be looked at isn't. */
function isOwn(path: string): boolean {
  try {
    const stat = lstatSync(path);
    return stat.isFile() && stat.uid === process.getuid?.() && (stat.mode & 0o077) === 0;
  } catch {
    return false;
  }
}
