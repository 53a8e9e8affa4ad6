import { lstatSync } from 'node:fs';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Containment, ExecutionConfig } from '../core-types.ts';
import type { ProbeResult } from '../types.ts';
import { bwrapVersion, findBwrap } from './bwrap.ts';
import { createPlanner } from './planner.ts';
import { type Mode, type ModeResult, probeMode } from './probe/probe.ts';

export { checkMounts } from './check-mounts.ts';
export { fullReport, REPORTED_BY } from './dimensions.ts';
export { quarantineAppeared } from './quarantine.ts';
export { createRepositoryFinder } from './repositories.ts';

/**
 * Plans sandboxes and proves that this machine can carry them out. A proof is kept in memory while the bubblewrap binary (path
 * and change time) and our uid stay the same. Nothing is planned for a mode that wasn't proved; the one of root in other people's
 * Workspaces is proved when the first such run comes, since it needs a folder outside of the Writ home.
 */
export function createContainment(config: ExecutionConfig, logger: Logger): Containment {
  const plan = createPlanner(config);
  const proofs = new Map<Mode, { readonly of: string; readonly result: Promise<ModeResult>; readonly at: number }>();

  const prove = (mode: Mode, fresh: boolean): { readonly result: Promise<ModeResult>; readonly at: number } => {
    const bwrap = findBwrap(config.bwrap_candidates);
    const of = `${bwrap} ${lstatSync(bwrap).mtimeMs} ${process.getuid?.()}`;
    const known = proofs.get(mode);
    if (known && known.of === of && !fresh) return known;
    const proof = { of, result: probeMode(config, mode), at: Date.now() };
    proofs.set(mode, proof);
    proof.result.then(
      (result) => {
        if (!result.ok) logger.warn('containment is unavailable', { mode, cause: result.cause, detail: result.detail });
      },
      // Whoever awaits the result gets the fault.
      () => {},
    );
    return proof;
  };

  return {
    async probe({ fresh = false } = {}): Promise<ProbeResult> {
      try {
        const path = findBwrap(config.bwrap_candidates);
        const proof = prove('self', fresh);
        const result = await proof.result;
        if (!result.ok) return { ...result, probed_at: proof.at };
        return { ...result, backend: { path, version: await bwrapVersion(path) }, probed_at: proof.at };
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        return { ok: false, cause: thrown.message, fix: thrown.fix ?? '', detail: thrown.code, probed_at: Date.now() };
      }
    },

    async plan(spec) {
      const made = await plan(spec);
      const proof = await prove(made.drop ? 'dropped' : 'self', false).result;
      if (!proof.ok) throw new AppError('containment_unavailable', proof.cause, { fix: proof.fix, data: { detail: proof.detail } });
      return made;
    },
  };
}
