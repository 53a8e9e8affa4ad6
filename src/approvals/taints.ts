import type { Clock } from '../kernel/clock.ts';
import { type Reader, type Store, statement } from '../store/index.ts';
import type { Taints } from './types.ts';
import type { ApprovalWrites } from './writes.ts';

/** Origins that are told apart in one Run; beyond them one says that there are more. */
const MOST_ORIGINS = 64;
const ORIGIN_CHARS = 300;
const MORE = 'more';

/** Runs remembered here, so that a call that adds nothing new writes nothing. The one unused for longest goes. */
const MOST_RUNS = 256;

const originsIn = statement<{ run: string }, { origin: string }>((db, p) =>
  db
    .selectFrom('run_origins')
    .select('origin')
    .where('run', '=', p.run)
    .orderBy('at')
    .orderBy('origin')
    .limit(MOST_ORIGINS + 1),
);

/** Taint outlives the process: a Run that comes back after a restart is as tainted as it was. */
export function createTaints(parts: {
  readonly store: Pick<Store<ApprovalWrites>, 'write'>;
  /** To a database that is there and up to date. */
  reader(): Promise<Reader>;
  readonly clock: Clock;
}): Taints {
  const runs = new Map<string, Set<string>>();
  /** Used last: most calls are of the same Run as the one before. */
  let newest: string | undefined;

  const known = async (run: string): Promise<Set<string>> => {
    const before = runs.get(run);
    if (before !== undefined && run === newest) return before;
    const found = before ?? new Set(originsIn.all(await parts.reader(), { run }).map(({ origin }) => origin));
    runs.delete(run);
    runs.set(run, found);
    newest = run;
    const oldest = runs.keys().next().value;
    if (runs.size > MOST_RUNS && oldest !== undefined) runs.delete(oldest);
    return found;
  };

  const taints: Taints = {
    async add(run, origins) {
      if (origins.length === 0) return;
      const all = await known(run);
      const fresh = [...new Set(origins.map((origin) => origin.slice(0, ORIGIN_CHARS).toWellFormed()))].filter(
        (origin) => !all.has(origin),
      );
      const room = Math.max(0, MOST_ORIGINS - all.size);
      const added = fresh.length > room ? [...fresh.slice(0, room), MORE].filter((origin) => !all.has(origin)) : fresh;
      if (added.length === 0) return;
      // First here: a store that fails must not make the Run look clean to this process.
      for (const origin of added) all.add(origin);
      await parts.store.write('taints.add', { run, origins: added, at: parts.clock.now() }, { level: 'normal', essential: true });
    },
    originsOf: async (run) => [...(await known(run))],
    async carry(from, to) {
      if (from === to) return;
      const stored = originsIn.all(await parts.reader(), { run: from }).map(({ origin }) => origin);
      await taints.add(to, [...stored, ...(runs.get(from) ?? [])]);
    },
  };
  return taints;
}
