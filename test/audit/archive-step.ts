/**
 * One archive step in a process of its own that kills itself at its N-th touch of the disk: `node archive-step.ts HOME NOW N`. Ends by
 * itself, with 0, when the step has fewer.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';

const [home = '', now = '', at = ''] = process.argv.slice(2);
let left = Number.POSITIVE_INFINITY;
const touch = (): void => {
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
};

const spied = fs as unknown as Record<string, (...args: unknown[]) => unknown>;
for (const name of ['mkdirSync', 'openSync', 'writeFileSync', 'fsyncSync', 'renameSync', 'rmSync']) {
  const real = spied[name];
  spied[name] = (...args) => {
    touch();
    return real?.(...args);
  };
}
syncBuiltinESMExports();

const { auditWrites } = await import('../../src/audit/index.ts');
const { databaseFile } = await import('../../src/store/index.ts');
const { openConnection } = await import('../../src/store/connection.ts');
const { createGroupRunner } = await import('../../src/store/transaction.ts');

const connection = await openConnection(databaseFile(home), 'write');
const run = createGroupRunner(
  {
    ...connection,
    get inTransaction() {
      return connection.inTransaction;
    },
    run(sql, parameters) {
      if (/^(insert|delete|update|COMMIT)/.test(sql)) touch();
      const changes = connection.run(sql, parameters);
      if (sql === 'COMMIT') touch();
      return changes;
    },
  },
  auditWrites,
  databaseFile(home),
);
left = Number(at);
const args = { directory: join(home, 'audit'), now: Number(now), retention: { age: 0, bytes: 1 }, promptly: true };
const [result] = run([{ name: 'audit.archive', args, level: 'full' }]);
left = Number.POSITIVE_INFINITY;
connection.close();
process.exitCode = result?.ok ? 0 : 1;
