import { errnoOf } from '../../kernel/errors.ts';
import type { ProcessIdentity, TeardownReport } from '../types.ts';
import { type IdentityVerdict, judge, signalOwned } from './identity.ts';
import { membersOf } from './proc.ts';

/** From the first KILL until "it could not be seen gone". */
const PROOF_BUDGET_MS = 5_000;

/** TERM for every member of the namespace except its init, whose death would take away the others' time to clean up. */
export function terminateMembers(namespace: string, init: ProcessIdentity): void {
  for (const pid of membersOf(namespace) ?? []) {
    if (pid === init.pid) continue;
    try {
      process.kill(pid, 'SIGTERM');
    } catch (error) {
      // Gone meanwhile, or it changed its uid: KILL of the namespace comes for all.
      if (errnoOf(error) === undefined) throw error;
    }
  }
}

export interface Tree {
  readonly outer?: ProcessIdentity;
  readonly init: ProcessIdentity;
  readonly pid_namespace: string;
  /** True when the kernel ended everything in a cgroup for us. */
  readonly killCgroup?: () => boolean;
}

/**
 * Kills the tree and waits until it was seen gone. A PID namespace can't outlive its init (the kernel kills the members and init becomes
 * a zombie only when they are gone), so the init's death by PID and start time is the whole proof; members are only looked up to name
 * survivors. Members that are stopped or ignore TERM die the same way.
 */
export async function endTree(tree: Tree, monotonic: () => number): Promise<TeardownReport> {
  const started = monotonic();
  const ms = (): number => Math.round((monotonic() - started) * 10) / 10;
  let verdict = judge(tree.init);
  for (let attempt = 0; verdict === 'OWNED' && ms() < PROOF_BUDGET_MS; attempt++) {
    // Again and again: a kill is only a request until the process is seen gone. The first look comes before the first kill, since the
    // usual case is that everything is dead already.
    if (attempt > 0 && (attempt === FIRST_KILL || attempt % 64 === 0)) {
      tree.killCgroup?.();
      signalOwned(tree.init, 'SIGKILL');
      if (tree.outer !== undefined) signalOwned(tree.outer, 'SIGKILL');
    }
    await pause(attempt);
    verdict = judge(tree.init);
  }
  return report(tree, verdict, ms());
}

/** bubblewrap's own death takes the init along within a moment; a kill before that moment would be noise. */
const FIRST_KILL = 8;

function report(tree: Tree, verdict: IdentityVerdict, ms: number): TeardownReport {
  if (verdict === 'GONE' || verdict === 'FOREIGN') return { verified: true, method: 'namespace_init_gone', survivors: [], ms };
  const members = membersOf(tree.pid_namespace);
  return { verified: false, method: members === undefined ? 'none' : 'scan', survivors: members ?? [], ms };
}

/** First a few turns of the event loop (a healthy death takes well under a millisecond), then longer and longer, up to 50 ms. */
function pause(attempt: number): Promise<void> {
  if (attempt < 4) return new Promise((resolve) => setImmediate(resolve));
  return new Promise((resolve) => setTimeout(resolve, Math.min(50, attempt - 3)));
}
