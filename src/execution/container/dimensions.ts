import { networkDimension } from '../containment/dimensions.ts';
import type { RunAs } from '../containment/run-as.ts';
import type { NetworkPlan } from '../network/inlets.ts';
import type { Dimension, DimensionReport } from '../types.ts';
import type { Engine } from './types.ts';

const enforced = (by: string): DimensionReport => ({ state: 'enforced', by });

/** What a container of these flags enforces. The probe shows on this machine that it really does. */
export function containerDimensions(input: {
  readonly as: RunAs;
  readonly engine: Engine;
  readonly nested_userns: boolean;
  readonly sockets: readonly string[];
  readonly network: NetworkPlan | undefined;
}): Readonly<Partial<Record<Dimension, DimensionReport>>> {
  const { as, engine } = input;
  return {
    fs_read: enforced('container: its image, the workspaces and a private HOME are all there is'),
    fs_write: enforced('read-only root: only the workspaces, private HOME and /tmp are writable'),
    network: networkDimension(input.network),
    unix_sockets:
      input.sockets.length === 0
        ? enforced('no socket of the host is mounted; abstract ones are in another network namespace')
        : {
            state: 'best_effort',
            by: 'container',
            reason: `these sockets lie in what is mounted and can be connected to: ${input.sockets.join(', ')}`,
          },
    pid_ns: enforced('PID namespace of the container'),
    user_ns_nesting: input.nested_userns
      ? { state: 'not_enforced', reason: 'asked for: a browser inside builds its own sandbox with user namespaces' }
      : enforced('seccomp'),
    caps: enforced('all capabilities dropped, no new privileges'),
    seccomp: enforced('seccomp filter'),
    env: enforced('environment built from an allow-list; an image adds its own'),
    proc_mask: enforced(`/proc as ${engine.kind} masks it`),
    tmp_noexec: enforced('tmpfs of the container'),
    uid:
      as.report.state === 'enforced'
        ? as.report
        : {
            state: 'not_enforced',
            by: 'container',
            reason:
              'Writ runs as root and root owns this workspace: the run is root without capabilities. Give the workspace to an ordinary user, or start Writ as one.',
          },
  };
}
