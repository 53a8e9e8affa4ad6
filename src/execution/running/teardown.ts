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
  let kill_at = FIRST_KILL_MS;
  let pause = 0;
  // The first look comes before the first kill, since the usual case is that everything is dead already.
  while (verdict === 'OWNED' && ms() < PROOF_BUDGET_MS) {
    // Again and again: a kill is only a request until the process is seen gone.
    if (ms() >= kill_at) {
      tree.killCgroup?.();
      signalOwned(tree.init, 'SIGKILL');
      if (tree.outer !== undefined) signalOwned(tree.outer, 'SIGKILL');
      kill_at = ms() + KILL_AGAIN_MS;
    }
    if (ms() < TURNS_MS) await turn();
    else {
      pause = Math.min(LONGEST_PAUSE_MS, pause + 1);
      await sleep(pause);
    }
    verdict = judge(tree.init);
  }
  return report(tree, verdict, ms());
}

/** bubblewrap's own death takes the init along within a moment; a kill before that moment would be noise. */
const FIRST_KILL_MS = 10;
const KILL_AGAIN_MS = 500;
/**
 * For so long it is looked at each turn of the event loop: a healthy death takes well under a millisecond, and the shortest timer would
 * take more. Then the pauses grow, one millisecond at a time.
 */
const TURNS_MS = 1;
const LONGEST_PAUSE_MS = 50;

function report(tree: Tree, verdict: IdentityVerdict, ms: number): TeardownReport {
  if (verdict === 'GONE' || verdict === 'FOREIGN') return { verified: true, method: 'namespace_init_gone', survivors: [], ms };
  const members = membersOf(tree.pid_namespace);
  return { verified: false, method: members === undefined ? 'none' : 'scan', survivors: members ?? [], ms };
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
