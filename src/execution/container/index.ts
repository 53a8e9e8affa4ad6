import { createHash } from 'node:crypto';
import { cpus } from 'node:os';
import type { Clock } from '../../kernel/clock.ts';
import { systemClock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { createPlanner, type PlanMaker } from '../containment/planner.ts';
import type { ModeResult } from '../containment/probe/surroundings.ts';
import { ownStanding } from '../containment/proof-key.ts';
import type { FindRepositories } from '../containment/repositories.ts';
import { planUncontained } from '../containment/uncontained.ts';
import type { Containment, ExecutionConfig, ProbeMode, ProofStore } from '../core-types.ts';
import { ownHardLimits } from '../running/rlimits.ts';
import type { ProbeResult } from '../types.ts';
import { ENGINES, findEngine } from './engine.ts';
import { findTarget } from './image.ts';
import { buildContainerPlan } from './plan.ts';
import { probeContainer } from './probe.ts';
import type { Target } from './types.ts';

const PROOF_MS = 24 * 3_600_000;
/** A failure is told again for so long before it is tried anew. */
const FAILURE_MS = 5_000;

interface Ready {
  readonly target: Target;
  readonly maker: PlanMaker;
  readonly plan: ReturnType<typeof createPlanner>;
}

/**
 * Plans containers and proves that the engine of this machine can carry them out, as containment/ does for bubblewrap. The engine and
 * the digest of the image are looked up once a process and again after a failure; what is run is the digest, so that it can't be
 * exchanged in between.
 */
export function createContainerContainment(
  config: ExecutionConfig,
  logger: Logger,
  proofs: ProofStore,
  find: FindRepositories,
  clock: Clock = systemClock,
): Omit<Containment, 'place'> {
  const standing = ownStanding(config);
  const ours = { ...ownHardLimits(), cpus: cpus().length };
  let ready: { readonly at: number; readonly found: Promise<Ready>; failed?: true } | undefined;
  const known = new Map<ProbeMode, { readonly key: string; readonly at: number; readonly result: Promise<ModeResult>; failed?: true }>();

  const getReady = async (): Promise<Ready> => {
    const { engines = ENGINES, image } = config.container ?? {};
    const engine = await findEngine({ candidates: engines, host_env: config.host_env, user_home: config.user_home });
    const target = await findTarget(engine, image, config.home, clock.now());
    const maker: PlanMaker = {
      program: () => `${engine.path} ${target.image}`,
      make: (spec, facts, settings) => buildContainerPlan(spec, facts, settings, target, ours),
    };
    return { target, maker, plan: createPlanner(config, find, maker) };
  };

  const theReady = (fresh = false): Promise<Ready> => {
    if (ready && !fresh && !(ready.failed && clock.monotonic() - ready.at > FAILURE_MS)) return ready.found;
    const entry: { readonly at: number; readonly found: Promise<Ready>; failed?: true } = { at: clock.monotonic(), found: getReady() };
    entry.found.catch(() => {
      entry.failed = true;
    });
    ready = entry;
    return entry.found;
  };

  const prove = async (mode: ProbeMode, { target, maker }: Ready, fresh: boolean): Promise<ModeResult> => {
    const { engine, image } = target;
    const key = createHash('sha256')
      .update(JSON.stringify([standing, engine, image, config.limits]))
      .digest('hex');
    const now = clock.now();
    const before = known.get(mode);
    if (before && !fresh && before.key === key && now - before.at < (before.failed ? FAILURE_MS : PROOF_MS)) return before.result;
    const kept = fresh ? undefined : proofs.load(mode);
    if (kept?.key === key && now >= kept.probed_at && now - kept.probed_at < PROOF_MS) {
      const result: ModeResult = { ok: true, report: kept.report };
      known.set(mode, { key, at: kept.probed_at, result: Promise.resolve(result) });
      return result;
    }
    const entry: { readonly key: string; readonly at: number; readonly result: Promise<ModeResult>; failed?: true } = {
      key,
      at: now,
      result: probeContainer(config, mode, target, maker, clock),
    };
    known.set(mode, entry);
    const result = await entry.result;
    if (result.ok) proofs.save(mode, { key, probed_at: now, report: result.report, backend_version: engine.version });
    else {
      entry.failed = true;
      logger.warn('containment is unavailable', { mode, cause: result.cause, detail: result.detail });
    }
    return result;
  };

  const insist = async (mode: ProbeMode, found: Ready, fresh: boolean): Promise<void> => {
    const proved = await prove(mode, found, fresh);
    if (!proved.ok) throw new AppError('backend_unavailable', proved.cause, { fix: proved.fix, data: { detail: proved.detail } });
  };

  return {
    async probe({ fresh = false } = {}): Promise<ProbeResult> {
      const probed_at = clock.now();
      try {
        const found = await theReady(fresh);
        const proved = await prove('self', found, fresh);
        if (!proved.ok) return { ...proved, probed_at };
        const { kind, path, version } = found.target.engine;
        return { ok: true, report: proved.report, backend: { path, version: `${kind} ${version}` }, probed_at };
      } catch (thrown) {
        if (!(thrown instanceof AppError)) throw thrown;
        return { ok: false, code: thrown.code, cause: thrown.message, fix: thrown.fix ?? '', detail: thrown.code, probed_at };
      }
    },

    async plan(spec, channel) {
      if (spec.uncontained) return planUncontained(spec, config);
      if (channel !== undefined || spec.pty !== undefined) {
        throw new AppError('backend_unavailable', 'Programs that stay and terminals are not run in containers yet.', {
          fix: 'Contain them with bubblewrap: leave out --sandbox and sandbox.backend.',
        });
      }
      const found = await theReady();
      const made = await found.plan(spec);
      await insist(made.drop ? 'dropped' : 'self', found, false);
      return made;
    },

    async doubt(made, since) {
      const mode: ProbeMode = made.drop ? 'dropped' : 'self';
      const before = known.get(mode);
      if (before && before.at >= since) return;
      proofs.drop(mode);
      logger.info('a container could not be started: containment is proved again', { mode });
      await insist(mode, await theReady(true), true);
    },
  };
}
