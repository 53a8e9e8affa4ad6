import type { RunSpec } from '../types.ts';
import type { Placed } from './place-holders.ts';
import type { StandIn } from './stand-ins.ts';

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
