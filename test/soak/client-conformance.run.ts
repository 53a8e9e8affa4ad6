import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';

/** The official scenarios for clients, logins included, on the client that upstreams are reached with; see test/conformance. */
const { status } = spawnSync('vitest', ['run', 'test/conformance/client.test.ts'], {
  cwd: resolve(import.meta.dirname, '../..'),
  env: { ...process.env, WRIT_TEST_CLIENT: '1', NO_COLOR: '1' },
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
