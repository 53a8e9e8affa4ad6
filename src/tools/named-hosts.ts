import type { Assessment } from '../policy/types.ts';
import { withClusters } from './clusters.ts';
import { withRemotes } from './git-remotes.ts';
import { withRegistries } from './registries.ts';

/** The hosts that stand in files in place of the command: what a person is shown, and what a yes opens. */
export function withNamedHosts(assessment: Assessment, cwd: string, workspaces: readonly string[]): Assessment {
  return withClusters(withRegistries(withRemotes(assessment, cwd), cwd, workspaces));
}
