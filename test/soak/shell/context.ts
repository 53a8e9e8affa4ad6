import type { AssessContext } from '../../../src/policy/index.ts';

/** Nothing of the real machine is asked. */
export const CONTEXT: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path) => path, which: () => undefined },
};
