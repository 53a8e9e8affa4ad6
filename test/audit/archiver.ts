/**
 * A process that archives all the time: `node archiver.ts HOME`. Prints each file it made, and goes on until it is killed. Rows stay no
 * longer than it takes to seal them.
 */

import { archiveNow, type auditWrites } from '../../src/audit/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { createStore, databaseFile } from '../../src/store/index.ts';
import { WRITER_THREAD } from '../helpers/programs.ts';

const [home = ''] = process.argv.slice(2);
const store = createStore<typeof auditWrites>({ file: databaseFile(home), entry: WRITER_THREAD, reserve: 0 });
for (;;) {
  const retention = { age: 0, bytes: 1 };
  for (const file of (await archiveNow({ store, home, clock: systemClock, retention })).files) process.stdout.write(`${file}\n`);
}
