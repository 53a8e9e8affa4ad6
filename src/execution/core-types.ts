import type { ExecId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ContainerPlan, ContainerSettings } from './container/types.ts';
import type { PreparedOpenings } from './containment/prepared-openings.ts';
import type { NetworkPlan } from './network/inlets.ts';
import type {
  ContainmentReport,
  Dimension,
  DimensionReport,
  Limits,
  OutputView,
  ProbeResult,
  RunResult,
  RunSpec,
  WorkspaceBind,
} from './types.ts';

/**
 * Between the three halves of the room, not for others:
 * `containment/` plans a sandbox (what is mounted, which environment, which uid) and probes it,
 * `running/` carries one plan out in this process (gate, identity, capture, teardown),
 * `runner/` and `jobs/` put that into a process of its own and make it durable.
 */

/** Settings of the room, from kernel/config through main/. Nothing in execution/ reads the environment itself. */
export interface ExecutionConfig {
  /** The Writ home (~/.writ), real path; exists, 0700. */
  readonly home: string;
  /** The environment Writ was started with: source for the allow-list, never handed on whole. */
  readonly host_env: Readonly<Record<string, string>>;
  /** `sandbox.env_pass`: further names the operator lets through. */
  readonly env_pass: readonly string[];
  /** `sandbox.loopback`: ports of the host's loopback that every run has at the same number. */
  readonly loopback?: readonly number[];
  /** The person's real home folder (from the passwd entry of the real uid). */
  readonly user_home: string;
  /** Operator limits; a spec never exceeds them. */
  readonly limits: Limits;
  /** What contains runs. Default bubblewrap. `none`: the operator lets all of them run without containment. */
  readonly backend?: 'bubblewrap' | 'container' | 'none';
  /** For the backend `container`. */
  readonly container?: ContainerSettings;
  /** Where bubblewrap is looked for, in order; first existing wins. Default ['/usr/bin/bwrap']. */
  readonly bwrap_candidates: readonly string[];
  /** How a runner process is started: argv of this program's internal `runner` command. */
  readonly runner_argv: readonly string[];
  /** Jobs delivered and older than this are removed. Default 7 days. */
  readonly job_retention_ms: number;
  /** All job folders together; oldest delivered go first. Default 2 GiB. */
  readonly job_quota_bytes: number;
  /** Where private folders lie when Writ is root and runs become other users, who can't reach `home`. Default /var/lib/writ. */
  readonly shared_root?: string;
  /** Version of this program: what an earlier one has proved is proved again. */
  readonly version?: string;
}

/** The modes a run can have; they meet different rules of the kernel, so each is proved on its own. */
export type ProbeMode = 'self' | 'dropped';

/** A successful probe, kept for the processes that come after. A failed one never is. */
export interface Proof {
  /** Everything it depends on; it says nothing about a machine, a bubblewrap or a program with another key. */
  readonly key: string;
  readonly probed_at: number;
  readonly report: ContainmentReport;
  readonly backend_version: string;
}

/** Where proofs are kept. It never fails: what can't be read is not there, what can't be written is proved again. */
export interface ProofStore {
  load(mode: ProbeMode): Proof | undefined;
  save(mode: ProbeMode, proof: Proof): void;
  drop(mode: ProbeMode): void;
}

/** Everything one execution runs under, decided before anything starts. Pure data: equal plans have equal keys. */
export interface SandboxPlan {
  /** For a container in place of bubblewrap, whose options are then not used. */
  readonly container?: ContainerPlan;
  readonly bwrap: string;
  /** All options for `--args FD`, without the fds and without the command. */
  readonly args: readonly string[];
  /** Where the command starts: bubblewrap goes there, and a waiting sandbox is told. Not part of the key. */
  readonly cwd: string;
  /** The whole environment of bubblewrap itself and of the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Real uid and gid to drop to before bubblewrap starts; absent: stay. */
  readonly drop?: { readonly uid: number; readonly gid: number };
  /** A classic BPF program for `--seccomp FD`. */
  readonly seccomp: Uint8Array;
  readonly limits: Limits;
  /** What of a network it has beyond its own loopback; absent: nothing. */
  readonly network?: NetworkPlan;
  /** Private folders on the host, made before planning. */
  readonly private_home: string;
  readonly private_tmp: string;
  /** Paths that must not appear during the run (absent protected paths): checked afterwards and quarantined. */
  readonly watch: readonly string[];
  /** Protected paths that are symbolic links, which no mount can hold in place: put back afterwards if they were changed. */
  readonly links?: readonly { readonly path: string; readonly target: string }[];
  /**
   * What must be found mounted at these paths before the token is sent (`checkMounts` of containment/): a run that was already
   * going may have swapped a folder of the Workspace for a link between planning and mounting.
   */
  readonly expect?: readonly { readonly path: string; readonly dev: number; readonly ino: number }[];
  /** Repositories and settings known before the run, by writable Workspace: newer ones are looked through afterwards. */
  readonly repositories?: readonly {
    readonly root: string;
    readonly work_trees: readonly string[];
    readonly bare: readonly string[];
    /** Of agents and editors, in the folders below. */
    readonly settings: readonly string[];
    /** Those that were looked into. A set, which JSON leaves out: the key is the same whatever folders there are. */
    readonly folders: ReadonlySet<string>;
    /** All of the Workspace was looked through. */
    readonly complete: boolean;
  }[];
  /** What the mounts and flags of this plan enforce; `running/` adds limits, teardown, start gate and clock. */
  readonly dimensions: Readonly<Partial<Record<Dimension, DimensionReport>>>;
  readonly notes: readonly string[];
  /** Hash of everything above but the working directory: a warm sandbox may be used only for an equal key. */
  readonly key: string;
}

/** What the plan of a long-lived program (channel/) has other than that of a command. */
export interface ChannelProfile {
  /** Private HOME and TMPDIR belong to it, in place of the first folder. */
  readonly name: string;
  /** Of the program's environment what containment looks at: PATH and names of folders. */
  readonly env: Readonly<Record<string, string>>;
  /** Files that are started: whatever of their packages isn't there anyway is bound for reading. */
  readonly programs: readonly string[];
  /** Hosts of an allow-list that a person has chosen. */
  readonly own_hosts?: readonly string[];
  /** A folder of Writ's own that it sees. */
  readonly installation?: WorkspaceBind;
  /** The network is the host's. */
  readonly host_network: boolean;
  /** Sockets of the host that are bound. */
  readonly unix_sockets: readonly string[];
  /** A private /dev/shm. */
  readonly shared_memory: boolean;
}

export interface Containment {
  probe(options?: { fresh?: boolean }): Promise<ProbeResult>;
  /** Throws AppError containment_unavailable when the probe failed, invalid_arguments for a cwd outside. */
  plan(spec: RunSpec, channel?: ChannelProfile): Promise<SandboxPlan>;
  /** Makes what the openings need before the plan. Cleared when the run is over, however it ended. */
  place(spec: RunSpec): PreparedOpenings;
  /**
   * A sandbox of this plan could not be built: a proof that is older than `since` is dropped and made anew, once. Throws
   * AppError containment_unavailable, with the cause and what to do, when containment doesn't work here any more.
   */
  doubt(plan: SandboxPlan, since: number): Promise<void>;
}

/** One execution in this process. The folder holds `identity.json`, `output.log`, `output.idx`; the caller writes the rest. */
export interface ContainedRun {
  readonly exec_id: ExecId;
  /** The final report of what is really enforced. */
  readonly report: ContainmentReport;
  /** It never passed its gate, and `done` says why. */
  readonly never_started?: true;
  write(bytes: Uint8Array): boolean;
  resize(cols: number, rows: number): void;
  cancel(reason: string): void;
  view(): OutputView;
  readonly done: Promise<RunResult>;
}

export interface Running {
  /**
   * Starts a planned run. `folder` exists; `durable` makes identity.json fsynced before the token is sent. Resolves once the
   * command has been let through the gate (or rejects/settles as never_started: then no user code ran).
   */
  start(input: {
    readonly exec_id: ExecId;
    readonly spec: RunSpec;
    readonly plan: SandboxPlan;
    readonly folder: string;
    readonly durable: boolean;
    readonly logger: Logger;
  }): Promise<ContainedRun>;
  /** A report of what containment alone can say, with what limits would be in force for a run now: found out by making a group, not by inference. */
  withLimits(report: ContainmentReport, limits: Limits): ContainmentReport;
  /** Keeps up to two sandboxes waiting at the gate for this plan (one use each, ended after 60 s idle). */
  warm(plan: SandboxPlan): void;
  close(): Promise<void>;
}
