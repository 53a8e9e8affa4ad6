import type { ExecutionConfig } from '../core-types.ts';
import type { RunSpec } from '../types.ts';
import { readAccounts } from './accounts.ts';
import { withTargets } from './linked-openings.ts';
import { type Placed, placeMissing } from './place-holders.ts';
import { whoRuns } from './planner.ts';
import { privateFolders } from './private-folders.ts';
import { endStandIns, makeStandIns, type StandIn } from './stand-ins.ts';

/** Everything that is made for the openings of one run, before it is planned. */
export interface PreparedOpenings {
  /** To be planned with. */
  readonly openings: RunSpec['openings'];
  /** To be kept where the next process finds it, should this one be killed. */
  readonly placed: readonly Placed[];
  readonly stand_ins: readonly StandIn[];
  /**
   * After the run's tree is dead, or when it never started: takes away what the run has left as it was, and brings out what it put in the
   * place of an opened file. Sentences for whoever asked. `wentWell`: see `PlaceHolders`.
   */
  clear(wentWell?: boolean): readonly string[];
}

export function prepareOpenings(config: ExecutionConfig, spec: RunSpec): PreparedOpenings {
  if (spec.openings.length === 0) return { openings: [], placed: [], stand_ins: [], clear: () => [] };
  const primary = spec.workspaces[0]?.path ?? '/';
  const as = whoRuns(primary, readAccounts());
  const { user_home } = config;
  const named = withTargets(spec.openings);
  const ends = named.filter(({ target }) => target === undefined);
  const { placed, clear } = placeMissing(ends, { writ_home: config.home, user_home }, as.drop ? as : undefined);
  const { made, openings } = makeStandIns(
    { ...spec, openings: named },
    { as, user_home, private_home: privateFolders(config, primary, as).home },
  );
  return {
    openings,
    placed,
    stand_ins: made,
    clear(wentWell) {
      const notes = endStandIns(made);
      clear(wentWell);
      return notes;
    },
  };
}
