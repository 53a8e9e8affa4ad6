import type { SandboxPlan } from '../core-types.ts';
import { look } from './look.ts';

/**
 * Looks into a sandbox that waits at the gate (`init` is a host PID in it) and compares what is mounted with what the plan saw.
 * bubblewrap follows links in the sources it is given, and another run of the same Workspace could have swapped a folder for a
 * link to ~/.ssh after the plan was made. Undefined: all as planned. Otherwise what isn't: the token must not be sent.
 */
export function checkMounts(plan: SandboxPlan, init: number): string | undefined {
  for (const { path, dev, ino } of plan.expect ?? []) {
    const found = look(`/proc/${init}/root${path}`);
    if (!found) return `${path} is not there`;
    // A link in a folder's place may have got the inode number that the folder left.
    if (found.isSymbolicLink() || found.dev !== dev || found.ino !== ino) return `${path} is not what it was when the run was planned`;
  }
  return undefined;
}
