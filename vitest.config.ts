import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What starts whole programs goes first, so that nobody waits at the end for one long file. */
class LongOnesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification): number => (relative(import.meta.dirname, moduleId).startsWith('test/') ? 0 : 1);
    return (await super.sort(files)).toSorted((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  // The second pass of npm test runs as a user who can't write into the checkout.
  cacheDir: process.env['WRIT_TEST_CACHE'] ?? 'node_modules/.cache/vite',
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    // The scenarios for clients start a program for each of them, which takes a minute: `npm run test:soak -- client-conformance`.
    exclude: [
      'test/hosts/**',
      'test/soak/**',
      '**/node_modules/**',
      ...(process.env['WRIT_TEST_CLIENT'] ? [] : ['test/conformance/client.test.ts']),
    ],
    globalSetup: 'test/house/global-setup.ts',
    setupFiles: ['test/house/seed.ts'],
    pool: 'forks',
    // A new process for each file would cost a fifth of the time. What a file starts, it ends; nothing here keeps state in modules.
    isolate: false,
    // Measured with three and four on two processors: no quicker, and what waits for a deadline misses it.
    maxWorkers: 2,
    sequence: { sequencer: LongOnesFirst },
    testTimeout: 120_000,
    hookTimeout: 60_000,
  },
});
