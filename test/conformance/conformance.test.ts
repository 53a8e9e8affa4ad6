import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startFixture } from './fixture-server.ts';
import { isInstalled, runScenarios } from './runner.ts';

/**
 * The official scenarios for servers, on the transport, gate and approvals that are shipped. What fails is listed with its reason; something that
 * fails and isn't listed, and something that is listed and passes, both fail the test.
 */

const FAILURES = JSON.parse(readFileSync(new URL('./expected-failures.json', import.meta.url), 'utf8')) as Record<
  string,
  Record<string, string>
>;

test.skipIf(!isInstalled).each(['2025-11-25', '2026-07-28'])('%s (skipped without @modelcontextprotocol/conformance)', async (revision) => {
  const folder = mkdtempSync(join(tmpdir(), 'writ-conformance-'));
  const fixture = await startFixture();
  try {
    const expected = Object.entries(FAILURES[revision] ?? {});
    for (const [scenario, reason] of expected) expect(reason.length, scenario).toBeGreaterThan(7);
    const file = join(folder, 'expected.yml');
    writeFileSync(file, `server:\n${expected.map(([scenario]) => `  - ${scenario}\n`).join('')}`);
    const { code, output } = await runScenarios([
      ...['server', '--url', fixture.url, '--requirements', revision, '--expected-failures', file, '-o', folder],
    ]);
    expect(code, output.slice(output.indexOf('=== SUMMARY ==='))).toBe(0);
    expect(output).toContain('Baseline check passed');
  } finally {
    await fixture.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
