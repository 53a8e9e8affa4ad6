import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Containment, ExecutionConfig, ProbeMode, Proof, ProofStore } from '../core-types.ts';
import type { ProbeResult } from '../types.ts';
import { bwrapVersion, findBwrap } from './bwrap.ts';
import { createPlanner } from './planner.ts';
import { prepareOpenings } from './prepare-openings.ts';
import { probeMode } from './probe/probe.ts';
import type { ModeResult } from './probe/surroundings.ts';
import { ownStanding, proofKey } from './proof-key.ts';
import { createRepositoryFinder, type FindRepositories } from './repositories.ts';
import { planUncontained } from './uncontained.ts';

/** Settings of a kernel can change while it runs; that nothing fails is no reason to believe a proof for ever. */
const PROOF_MS = 24 * 3_600_000;
/** A clock that was set back doesn't make a proof last longer. */
const CLOCK_SLACK_MS = 60_000;
/** A failure is told again for so long before it is tried anew: whoever has followed the advice needn't restart anything. */
const FAILURE_MS = 5_000;

type Proved = { readonly ok: true; readonly proof: Proof } | Extract<ModeResult, { ok: false }>;

interface Known {
  readonly key: string;
  readonly bwrap: string;
  readonly at: number;
  readonly result: Promise<Proved>;
  /** Set when the result is known to be a failure. */
  failed?: true;
}

/** For whoever wants every process to see for itself. */
const KEEP_NONE: ProofStore = { load: () => undefined, save() {}, drop() {} };

/**
 * Plans sandboxes and proves that this machine can carry them out. A proof is kept for a day, in memory and in the store, while all
 * it depends on (proof-key.ts) stays the same. Nothing is planned for a mode that wasn't proved; the one of root in other people's
 * Workspaces is proved when the first such run comes, since it needs a folder outside of the Writ home.
 */
export function createContainment(
  config: ExecutionConfig,
  logger: Logger,
  proofs: ProofStore = KEEP_NONE,
  /** One that is shared with whoever looks through the Workspaces after a run knows what was found there. */
  find: FindRepositories = createRepositoryFinder(),
): Containment {
  const plan = createPlanner(config, find);
  const standing = ownStanding(config);
  const known = new Map<ProbeMode, Known>();

  const holds = (key: string, found: Pick<Known, 'key' | 'at' | 'failed'>): boolean => {
    const age = Date.now() - found.at;
    return found.key === key && age >= -CLOCK_SLACK_MS && age < (found.failed ? FAILURE_MS : PROOF_MS);
  };

  const probe = async (mode: ProbeMode, key: string, bwrap: string, probed_at: number): Promise<Proved> => {
    const [result, backend_version] = await Promise.all([probeMode(config, mode), bwrapVersion(bwrap)]);
    if (!result.ok) {
      logger.warn('containment is unavailable', { mode, cause: result.cause, detail: result.detail });
      return result;
    }
    const proof: Proof = { key, probed_at, report: result.report, backend_version };
    proofs.save(mode, proof);
    return { ok: true, proof };
  };

  const prove = (mode: ProbeMode, fresh: boolean): Known => {
    const bwrap = findBwrap(config.bwrap_candidates);
    const key = proofKey(bwrap, standing);
    const before = known.get(mode);
    if (before && !fresh && holds(key, before)) return before;
    const kept = fresh ? undefined : proofs.load(mode);
    const entry: Known =
      kept && holds(key, { key: kept.key, at: kept.probed_at })
        ? { key, bwrap, at: kept.probed_at, result: Promise.resolve({ ok: true, proof: kept }) }
        : begin(mode, key, bwrap);
    known.set(mode, entry);
    return entry;
  };

  const begin = (mode: ProbeMode, key: string, bwrap: string): Known => {
    const at = Date.now();
    const entry: Known = { key, bwrap, at, result: probe(mode, key, bwrap, at) };
    entry.result.then(
      ({ ok }) => {
        if (!ok) entry.failed = true;
      },
      // Whoever awaits the result gets the fault.
      () => {
        entry.failed = true;
      },
    );
    return entry;
  };

  const insist = async (entry: Known): Promise<void> => {
    const proved = await entry.result;
    if (!proved.ok) throw new AppError('containment_unavailable', proved.cause, { fix: proved.fix, data: { detail: proved.detail } });
  };

  return {
    async probe({ fresh = false } = {}): Promise<ProbeResult> {
      try {
        const entry = prove('self', fresh);
        const proved = await entry.result;
        if (!proved.ok) return { ...proved, probed_at: entry.at };
        const { report, backend_version, probed_at } = proved.proof;
        return { ok: true, report, backend: { path: entry.bwrap, version: backend_version }, probed_at };
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        return { ok: false, cause: thrown.message, fix: thrown.fix ?? '', detail: thrown.code, probed_at: Date.now() };
      }
    },

    async plan(spec, channel) {
      if (spec.uncontained) return planUncontained(spec, config);
      const made = await plan(spec, false, channel);
      await insist(prove(made.drop ? 'dropped' : 'self', false));
      return made;
    },

    place: (spec) => prepareOpenings(config, spec),

    async doubt(made, since) {
      const mode = made.drop ? 'dropped' : 'self';
      const before = known.get(mode);
      if (before && before.at >= since) return insist(before);
      proofs.drop(mode);
      logger.info('a sandbox could not be built: containment is proved again', { mode });
      await insist(prove(mode, true));
    },
  };
}
