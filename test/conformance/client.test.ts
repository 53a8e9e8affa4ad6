import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isInstalled, PACKAGE, runScenarios } from './runner.ts';

/**
 * The official scenarios for clients, logins included, on the client that upstreams are reached with. What fails is listed with its reason;
 * something that fails and isn't listed, and something that is listed and passes, both fail the test.
 */

const FAILURES = JSON.parse(readFileSync(new URL('./expected-client-failures.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, string>
>;
const folder = mkdtempSync(join(tmpdir(), 'writ-conformance-client-'));
const AT_ONCE = 3;
const program = join(folder, 'client.mjs');

/** In one file, since it is started dozens of times. */
beforeAll(async () => {
  const built = await rolldown({
    input: fileURLToPath(new URL('./client.ts', import.meta.url)),
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    logLevel: 'silent',
  });
  await built.write({ file: program, format: 'esm' });
  await built.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(!isInstalled).each(['2025-11-25', '2026-07-28'])(
  '%s (skipped without @modelcontextprotocol/conformance)',
  { timeout: 240_000 },
  async (revision) => {
    const expected = FAILURES[revision] ?? {};
    for (const [scenario, reason] of Object.entries(expected)) expect(reason.length, scenario).toBeGreaterThan(7);
    const waiting = scenariosOf(revision);
    expect(waiting.length).toBeGreaterThan(15);
    const failed: Record<string, string> = {};
    const worker = async (): Promise<void> => {
      for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
        const { code, output } = await runScenarios([
          ...['client', '--command', `${process.execPath} ${program}`, '--scenario', scenario],
          ...['--spec-version', revision, '--timeout', '60000', '-o', folder],
        ]);
        if (code !== 0) failed[scenario] = output.slice(output.indexOf('Test Results:'));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, worker));
    const unexpected = Object.entries(failed).filter(([scenario]) => !Object.hasOwn(expected, scenario));
    expect(unexpected.map(([scenario, output]) => `${scenario}: ${output}`)).toEqual([]);
    expect(Object.keys(failed).sort()).toEqual(Object.keys(expected).sort());
  },
);

/** What the revision requires of clients; the runner's own `--requirements` starts them all at once, and what waits then is too late. */
function scenariosOf(revision: string): string[] {
  const text = readFileSync(join(PACKAGE, `requirements/${revision}.yaml`), 'utf8');
  const [, list = ''] = /^client:\n((?: {2}- .*\n)+)/m.exec(text) ?? [];
  return [...list.matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
}
