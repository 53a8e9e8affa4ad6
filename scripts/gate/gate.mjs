import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../bootstrap/checkout.mjs';
import { run } from '../bootstrap/run.mjs';
import { add, NOTHING, ran, readCounts } from './counts.mjs';
import { onMemoryDisk } from './memory-disk.mjs';
import { asOrdinaryUser } from './ordinary-user.mjs';

/** No step takes this long unless it hangs. vitest waits for every process that a test left behind with its output still open. */
const STEP_LIMIT_MS = 25 * 60_000;
/** Suites that behave differently for root and for an ordinary user. */
const OF_BOTH_USERS = [
  // Networks, browsers and containers are the same for everybody once they are contained.
  ...['channel', 'containment', 'files', 'jobs', 'runner', 'running'].map((name) => `src/execution/${name}/`),
  'src/kernel/config/',
  'src/identity/',
  ...['client-crash', 'crash', 'facade', 'full-disk', 'record-gap'].map((name) => `test/execution/${name}.test.ts`),
  'test/escape/own.test.ts',
  ...['killed', 'yes'].map((name) => `test/approvals/${name}.test.ts`),
  ...['drafts', 'file-tools', 'files-race', 'search-files'].map((name) => `test/tools/${name}.test.ts`),
  // The operator's page, the relay and the forms of clients are the same for everybody.
  ...['asker-over-http', 'cli', 'files-over-mcp', 'shell-over-mcp'].map((name) => `test/e2e/${name}.test.ts`),
];

/** In this order; the first failure ends the gate. A check without tests of its own counts as one. */
const STEPS = [
  { title: 'Types', run: check('tsc', '--noEmit', '-p', '.') },
  { title: 'Lint and format', run: check('biome', 'check', '.') },
  { title: 'Layer rules', run: check('depcruise', '--config', '.dependency-cruiser.mjs', 'src') },
  { title: 'Unused code', run: check('knip', '--no-progress') },
  { title: 'Build', run: check('node', 'scripts/build.mjs') },
  { title: `Tests as ${userName()}`, run: tests },
  { title: 'Tests as an ordinary user', run: testsAsOrdinaryUser },
];

/** @returns {Promise<number>} exit code */
export async function runGate(tools) {
  let total = NOTHING;
  for (const { title, run: runStep } of STEPS) {
    const since = Date.now();
    console.log(`\n=== ${title}`);
    const counts = await runStep(tools);
    if (Date.now() - since >= STEP_LIMIT_MS)
      console.log('It did not end within 25 minutes and was killed. Look for processes that a test left behind.');
    total = add(total, { ...counts, skippedNames: counts.skippedNames.map((name) => `${title}: ${name}`) });
    if (counts.failed > 0) {
      console.log(`=== ${title}: FAILED after ${seconds(since)} s; what follows was not run`);
      break;
    }
    console.log(`=== ${title}: ok in ${seconds(since)} s`);
  }
  report(total.skippedNames);
  console.log(`\n${total.passed} passed, ${total.failed} failed, ${total.skipped} skipped`);
  return total.failed === 0 ? 0 : 1;
}

function check(...argv) {
  return async ({ env }) => {
    const { code } = await run(argv, { cwd: ROOT, env, timeout: STEP_LIMIT_MS });
    return code === 0 ? { ...NOTHING, passed: 1 } : { ...NOTHING, failed: 1 };
  };
}

async function tests({ env }) {
  const results = join(ROOT, 'node_modules', '.cache', 'writ-tests.json');
  return onMemoryDisk(({ variables, around }) => vitest([], { env: { ...env, ...variables }, cwd: ROOT, base: ROOT, around, results }));
}

async function testsAsOrdinaryUser(tools) {
  if (process.getuid() !== 0) {
    console.log('Not run: this is no root, so the tests above already ran as an ordinary user, and the ones as root did not run.');
    return { ...NOTHING, skipped: 1, skippedNames: ['the pass as root (npm test was not started by root)'] };
  }
  return asOrdinaryUser(tools, (user) => vitest([...OF_BOTH_USERS], user));
}

async function vitest(extra, { env, cwd, base, around, results }) {
  rmSync(results, { force: true });
  const argv = [
    'vitest',
    'run',
    '--configLoader=native',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${results}`,
    ...extra,
  ];
  const { code } = await run(around(argv), { cwd, env: { ...env, WRIT_TEST_BUNDLE: '1' }, timeout: STEP_LIMIT_MS });
  return ran(code, readCounts(results, base));
}

function report(names) {
  if (names.length > 0) console.log(`\nSkipped:\n${names.map((name) => `  - ${name}`).join('\n')}`);
}

function seconds(since) {
  return Math.round((Date.now() - since) / 1000);
}

function userName() {
  return process.getuid?.() === 0 ? 'root' : 'this user';
}
