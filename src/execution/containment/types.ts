import type { ErrorCode } from '../../kernel/errors.ts';

/** What is said of containment: of one run, and of this machine. */

export const DIMENSIONS = [
  'fs_read',
  'fs_write',
  'network',
  'unix_sockets',
  'pid_ns',
  'user_ns_nesting',
  'caps',
  'seccomp',
  'memory',
  'pids',
  'cpu',
  'fsize',
  'disk',
  'env',
  'proc_mask',
  'tmp_noexec',
  'uid',
  'teardown',
  'start_gate',
  'wall_clock',
] as const;
export type Dimension = (typeof DIMENSIONS)[number];

export interface DimensionReport {
  readonly state: 'enforced' | 'best_effort' | 'not_enforced';
  /** What enforces it: "mount namespace", "cgroup v2", "prlimit" ... */
  readonly by?: string;
  /** Why it is not (fully) enforced, in words for a person. */
  readonly reason?: string;
}

export interface ContainmentReport {
  /** `none`: a person let it run without containment. */
  readonly backend: 'bubblewrap' | 'container' | 'none';
  readonly dimensions: Readonly<Record<Dimension, DimensionReport>>;
  /** PATH entries that were not bound, with the reason; openings that were made. */
  readonly notes: readonly string[];
}

/** The outcome of probing this machine with the production flags. Facts, never inference. */
export type ProbeResult =
  | {
      readonly ok: true;
      readonly report: ContainmentReport;
      readonly backend: { readonly path: string; readonly version: string };
      readonly probed_at: number;
    }
  | {
      readonly ok: false;
      /** What a refused command is told; absent: containment_unavailable. */
      readonly code?: ErrorCode;
      readonly cause: string;
      readonly fix: string;
      readonly detail: string;
      readonly probed_at: number;
    };
