/**
 * Writ's programs from their sources: what is tested is what is edited. In the gate they are the bundle, which was built just before and
 * starts in half the time.
 */
const BUNDLE = process.env['WRIT_TEST_BUNDLE'] !== undefined;

function program(name: 'cli' | 'runner' | 'writer-thread'): URL {
  return new URL(BUNDLE ? `../../dist/${name}.js` : `../../src/main/${name}.ts`, import.meta.url);
}

export const CLI = program('cli');
export const RUNNER = program('runner');
export const WRITER_THREAD = program('writer-thread');
