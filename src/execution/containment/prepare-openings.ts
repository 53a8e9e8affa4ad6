import type { ExecutionConfig } from '../core-types.ts';
import type { RunSpec } from '../types.ts';
import { readAccounts } from './accounts.ts';
import { withTargets } from './linked-openings.ts';
import { placeMissing } from './place-holders.ts';
import { whoRuns } from './planner.ts';
import type { PreparedOpenings } from './prepared-openings.ts';
import { privateFolders } from './private-folders.ts';
import { endStandIns, makeStandIns } from './stand-ins.ts';

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
