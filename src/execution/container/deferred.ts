import type { Logger } from '../../kernel/logger.ts';
import { prepareOpenings } from '../containment/prepare-openings.ts';
import type { FindRepositories } from '../containment/repositories.ts';
import type { Containment, ExecutionConfig, ProofStore } from '../core-types.ts';

/** Containers, loaded when one is asked for: a runner that works with bubblewrap pays nothing for them. */
export function deferContainers(config: ExecutionConfig, logger: Logger, proofs: ProofStore, find: FindRepositories): Containment {
  let made: Promise<Omit<Containment, 'place'>> | undefined;
  const containers = (): Promise<Omit<Containment, 'place'>> => {
    made ??= import('./index.ts').then(({ createContainerContainment }) => createContainerContainment(config, logger, proofs, find));
    return made;
  };
  return {
    probe: async (options) => (await containers()).probe(options),
    plan: async (spec, channel) => (await containers()).plan(spec, channel),
    place: (spec) => prepareOpenings(config, spec),
    doubt: async (plan, since) => (await containers()).doubt(plan, since),
  };
}
