import type { NetworkPlan } from '../network/inlets.ts';
import { DIMENSIONS, type Dimension, type DimensionReport } from '../types.ts';
import type { RunAs } from './run-as.ts';

const enforced = (by: string): DimensionReport => ({ state: 'enforced', by });
const atStart: DimensionReport = {
  state: 'best_effort',
  reason: 'known when a run starts: by cgroup where one can be written, otherwise by process limits or by watching',
};

/**
 * Who answers for each dimension: `plan` (mounts, flags, environment; shown by the probe), or whoever carries the plan out, with
 * what can be said before a run.
 */
export const REPORTED_BY: Readonly<Record<Dimension, 'plan' | { readonly running: DimensionReport }>> = {
  fs_read: 'plan',
  fs_write: 'plan',
  network: 'plan',
  unix_sockets: 'plan',
  pid_ns: 'plan',
  user_ns_nesting: 'plan',
  caps: 'plan',
  seccomp: 'plan',
  memory: { running: atStart },
  pids: { running: atStart },
  cpu: { running: atStart },
  fsize: { running: atStart },
  disk: { running: atStart },
  env: 'plan',
  proc_mask: 'plan',
  tmp_noexec: 'plan',
  uid: 'plan',
  teardown: { running: enforced('namespace init seen gone') },
  start_gate: { running: enforced('launcher that waits for a token') },
  wall_clock: { running: enforced('deadline of the supervisor') },
};

/** A whole report from a plan's part. A dimension that nobody answered for counts as not enforced. */
export function fullReport(plan: Readonly<Partial<Record<Dimension, DimensionReport>>>): Readonly<Record<Dimension, DimensionReport>> {
  const report = {} as Record<Dimension, DimensionReport>;
  for (const dimension of DIMENSIONS) {
    const by = REPORTED_BY[dimension];
    report[dimension] = plan[dimension] ?? (by === 'plan' ? { state: 'not_enforced', reason: 'not reported by the plan' } : by.running);
  }
  return report;
}

/** An allow-list counts as enforced: there is no way out of the namespace but through its proxy. */
export function networkDimension(network: NetworkPlan | undefined, host_network = false): DimensionReport {
  if (host_network) return { state: 'not_enforced', reason: 'asked for: it has the whole network of the host' };
  const ways = [
    ...(network?.allow === undefined ? [] : ['an allow-list proxy']),
    ...(network === undefined || network.loopback.length === 0 ? [] : [`ports of the host opened inward (${network.loopback.join(', ')})`]),
    ...(network === undefined || network.ports.length === 0 ? [] : [`ports published (${network.ports.join(', ')})`]),
  ];
  if (ways.length === 0) return enforced('network namespace of its own, loopback only');
  return enforced(`network namespace of its own, loopback and ${network?.allow === undefined ? '' : 'an allow-list: '}${ways.join(', ')}`);
}

function socketDimension(sockets: readonly string[], host_network: boolean): DimensionReport {
  const reasons = [
    ...(sockets.length === 0 ? [] : [`these sockets lie in what was bound and can be connected to: ${sockets.join(', ')}`]),
    ...(host_network ? ["abstract ones belong to the network, which is the host's"] : []),
  ];
  if (reasons.length === 0) return enforced('no socket of the host is bound; abstract ones are in another network namespace');
  return { state: 'best_effort', by: 'mount namespace', reason: reasons.join('; ') };
}

/** What a plan of these flags enforces. The probe shows on this machine that the kernel really does. */
export function planDimensions(input: {
  readonly as: RunAs;
  readonly nested_userns: boolean;
  readonly has_filter: boolean;
  /** Sockets seen in what is bound. */
  readonly sockets: readonly string[];
  readonly network?: NetworkPlan | undefined;
  readonly host_network?: boolean;
}): Readonly<Partial<Record<Dimension, DimensionReport>>> {
  return {
    fs_read: enforced('mount namespace: system folders, the workspaces and private folders are all there is'),
    fs_write: enforced('mount namespace: only the workspaces, private HOME and TMPDIR are writable'),
    network: networkDimension(input.network, input.host_network === true),
    unix_sockets: socketDimension(input.sockets, input.host_network === true),
    pid_ns: enforced('PID namespace'),
    user_ns_nesting: input.nested_userns
      ? { state: 'not_enforced', reason: 'asked for: a browser inside builds its own sandbox with user namespaces' }
      : enforced('user namespaces disabled inside, seccomp'),
    caps: enforced('all capabilities dropped, no new privileges'),
    seccomp: input.has_filter
      ? enforced('seccomp filter')
      : { state: 'not_enforced', reason: `there is no filter table for the architecture ${process.arch}` },
    env: enforced('environment built from an allow-list'),
    proc_mask: enforced('a proc file system of its own, settings and kernel files read-only or hidden'),
    tmp_noexec: {
      state: 'not_enforced',
      reason: 'programs in /tmp may run: builds and tests need it, and the workspace is executable anyway',
    },
    uid: input.as.report,
  };
}
