import type { DimensionReport } from '../types.ts';

/** Who a run is, outside and inside of the sandbox. */
export interface RunAs {
  /** Real uid and gid on the host: owner of everything the run writes. */
  readonly uid: number;
  readonly gid: number;
  /** Writ is root and gives that up before bubblewrap starts. */
  readonly drop: boolean;
  /** What the run sees itself as. */
  readonly inside: { readonly uid: number; readonly gid: number };
  readonly report: DimensionReport;
}

export interface OwnerFacts {
  readonly self: { readonly uid: number; readonly gid: number };
  /** Of the primary Workspace's folder. */
  readonly workspace: { readonly uid: number; readonly gid: number };
  /** Primary gid of that uid in the passwd file, where it has an entry. */
  readonly passwd_gid?: number;
}

/** What root's own Workspaces are shown as inside: an ordinary account, so that tools don't act as root. */
const ORDINARY = { uid: 1000, gid: 1000 } as const;

/**
 * An ordinary user stays who they are. Root becomes the Workspace's owner, so that what a run writes belongs to them and the
 * kernel itself refuses the rest. Only a Workspace that root owns leaves nobody to become: then the uid stays 0 on the host,
 * without a single capability, and the report says so.
 */
export function runAs({ self, workspace, passwd_gid }: OwnerFacts): RunAs {
  if (self.uid !== 0) return { ...self, drop: false, inside: self, report: { state: 'enforced', by: 'an ordinary user' } };
  if (workspace.uid === 0) {
    return {
      ...self,
      drop: false,
      inside: ORDINARY,
      report: {
        state: 'not_enforced',
        by: 'user namespace',
        reason:
          'Writ runs as root and root owns this workspace: the run is mapped to uid 1000 without capabilities, but is root to file permissions on the host. Give the workspace to an ordinary user, or start Writ as one.',
      },
    };
  }
  // A folder of group root must not make the run a member of it.
  const gid = passwd_gid ?? (workspace.gid === 0 ? workspace.uid : workspace.gid);
  const owner = { uid: workspace.uid, gid };
  return { ...owner, drop: true, inside: owner, report: { state: 'enforced', by: `dropped to uid ${owner.uid}, the workspace's owner` } };
}
