import type { Readable, Writable } from 'node:stream';
import type { RunLimits } from '../kernel/config/types.ts';
import type { ExecId, JobId } from '../kernel/ids.ts';
import type { ContainmentReport, ProbeResult } from './containment/types.ts';
import type { FilesView } from './files/types.ts';

export { type ContainmentReport, DIMENSIONS, type Dimension, type DimensionReport, type ProbeResult } from './containment/types.ts';
export type { FileOpening, FilePlace, FilesScene, FilesView, SearchEnd, SearchRun } from './files/types.ts';

/**
 * The words of execution: what other rooms may ask for and what they get back. The truth of an execution is its folder
 * (`~/.writ/runs/<exec id>`, or `~/.writ/jobs/<job id>` once it is a job); everything here can be read back from it.
 */

/** The strictest of operator and caller wins before it comes here. */
export type Limits = RunLimits;

export interface WorkspaceBind {
  /** Real path, absolute. */
  readonly path: string;
  readonly access: 'read' | 'write';
}

/** Who a run or job belongs to. Another agent's look absent. */
export interface Owner {
  readonly organization: string;
  readonly agent: string;
  /** The Run (DESIGN section 1) that started it: where its end is announced. */
  readonly run: string;
  readonly workspace: string;
}

/** A folder of the runner's own with one opened file in it. */
export interface StandInMount {
  readonly folder: string;
  /** Where it is inside: in place of the folder that the file lies in, or somewhere else. */
  readonly at: string;
  /** The variable by which a program is told that its file is there. */
  readonly variable?: string;
}

export interface RunSpec {
  /** bash text, any size up to 1 MiB; never goes through argv. */
  readonly command: string;
  /** Real path inside one of the workspaces. */
  readonly cwd: string;
  /** The first is the primary one: private HOME and TMPDIR belong to it. */
  readonly workspaces: readonly WorkspaceBind[];
  readonly owner: Owner;
  readonly stdin: 'closed' | Uint8Array;
  /** A terminal in place of the three pipes. Its output is one stream, reported as stdout. */
  readonly pty?: { readonly cols: number; readonly rows: number };
  readonly timeout_ms: number;
  readonly limits: Limits;
  /** Paths outside the workspaces (or protected ones inside) that a rule or an approval opened for this one run. */
  readonly openings: readonly {
    readonly path: string;
    readonly access: 'read' | 'write';
    /** What is put there for writing when there is nothing yet; default file. */
    readonly make?: 'file' | 'folder';
    /** Set by the runner: what the path leads to, which is opened itself (containment/linked-openings.ts). */
    readonly target?: string;
    /** Set by the runner: where the file can be replaced, too (containment/stand-ins.ts). */
    readonly through?: StandInMount;
  }[];
  /** The network of this run is an allow-list; absent: there is none. `hosts` as in network/allow-list.ts, `presets` from network/presets.ts. */
  readonly network?: { readonly hosts: readonly string[]; readonly presets: readonly string[] };
  /** Only for jobs: ports of its own loopback that the host's loopback gets at the same number. */
  readonly ports?: readonly number[];
  /** See Assessment.git_config_write: makes `.git/config` writable and turns hooks off. */
  readonly git_config_write: boolean;
  /** A person let it run without containment. Never for jobs: their end could not be proved. */
  readonly uncontained?: true;
  /** Lets a browser build its own sandbox inside. */
  readonly nested_userns?: boolean;
  /** Shown in lists; at most 200 characters. */
  readonly description?: string;
  /** The Action that asked for it: its end is found under it in the record, whichever process writes that. */
  readonly action?: string;
}

/** A bounded view of one stream. `head` and `tail` are cut on character edges and never overlap. */
export interface StreamView {
  readonly head: string;
  /** Empty when nothing was omitted. */
  readonly tail: string;
  /** Bytes between head and tail that are not shown here. */
  readonly omitted_bytes: number;
  /** Bytes the process wrote. */
  readonly total_bytes: number;
  /** Of everything written, shown or not; null while it still runs. */
  readonly sha256: string | null;
}

export interface OutputView {
  readonly stdout: StreamView;
  readonly stderr: StreamView;
  /** Both in the order in which they arrived. */
  readonly combined: StreamView;
  /** Bytes of both streams that can be read back by cursor, from 0; less than the total when the quota was reached. */
  readonly spooled_bytes: number;
}

/** A process as evidence: never a bare PID. */
export interface ProcessIdentity {
  readonly boot_id: string;
  readonly pid: number;
  /** Field 22 of /proc/PID/stat. */
  readonly start: string;
}

export interface TeardownReport {
  /** True only when the whole tree was seen gone. */
  readonly verified: boolean;
  readonly method: 'namespace_init_gone' | 'cgroup_empty' | 'scan' | 'none';
  /** PIDs still seen alive, as far as they can be known. */
  readonly survivors: readonly number[];
  readonly ms: number;
}

/** Connections that a run made through its allow-list proxy, by host and port. */
export interface NetworkUse {
  readonly allowed: readonly {
    readonly host: string;
    readonly port: number;
    readonly connections: number;
    /** Allowed, but there was no address or no answer. */
    readonly failed: number;
    readonly bytes_sent: number;
    readonly bytes_received: number;
  }[];
  readonly refused: readonly { readonly host: string; readonly port: number; readonly connections: number; readonly reason: string }[];
  /** Connections to hosts that these lists have no room for. */
  readonly omitted: number;
}

/** The evidence of one execution. */
export interface Receipt {
  readonly exec_id: ExecId;
  readonly started_at: number;
  readonly ended_at: number;
  readonly outer?: ProcessIdentity;
  readonly init?: ProcessIdentity;
  readonly pid_namespace?: string;
  readonly cgroup?: string;
  readonly containment: ContainmentReport;
  readonly teardown: TeardownReport;
  /** Protected paths that appeared during the run and were moved away (reported as persistence). */
  readonly quarantined: readonly { readonly path: string; readonly moved_to: string }[];
  /** Present when an allow-list was open. */
  readonly network?: NetworkUse;
  /** Limits that were hit: "memory", "pids", "fsize", "disk", "output". */
  readonly limits_hit: readonly string[];
  /** One sentence each, for error texts whose cause is the containment ("the network is off ..."). */
  readonly hints: readonly string[];
}

export type Outcome =
  | { readonly state: 'exited'; readonly exit_code: number; readonly signal?: string }
  | { readonly state: 'timed_out'; readonly exit_code: 124 }
  | { readonly state: 'cancelled'; readonly reason: string }
  /** No user code ran. */
  | { readonly state: 'never_started'; readonly reason: string }
  /** The process that owned it is gone before it could write the result: it may have run. */
  | { readonly state: 'lost'; readonly reason: string };

export interface RunResult {
  readonly outcome: Outcome;
  readonly output: OutputView;
  /** Absent only when it never started, was cancelled before it could, or was lost. */
  readonly receipt?: Receipt;
}

/** An execution under way. */
export interface RunHandle {
  readonly exec_id: ExecId;
  /** Input for `pty`; false when it is over or 1 MiB is still waiting to be taken (these bytes are not sent). */
  write(bytes: Uint8Array): boolean;
  /** A dead terminal is no error. */
  resize(cols: number, rows: number): void;
  cancel(reason: string): void;
  /** Output so far, with sha256 null. */
  view(): Promise<OutputView>;
  /**
   * Turns it into a job that outlives this process; from then on the job's files are the truth and `done` resolves with null.
   * Rejects when it ended first, and with busy or disk_full when it can't be a job and goes on as it was: `done` has its result.
   */
  promote(): Promise<JobRecord>;
  readonly done: Promise<RunResult | null>;
}

export const JOB_STATES = ['starting', 'running', 'exited', 'timed_out', 'cancelled', 'never_started', 'lost', 'unreadable'] as const;
export type JobState = (typeof JOB_STATES)[number];

export interface JobRecord {
  readonly job_id: JobId;
  readonly state: JobState;
  readonly command: string;
  readonly description?: string;
  readonly cwd: string;
  readonly owner: Owner;
  readonly created_at: number;
  readonly ended_at?: number;
  readonly timeout_ms: number;
  /** Published on the host's loopback while it runs. */
  readonly ports?: readonly number[];
  readonly exit_code?: number;
  readonly signal?: string;
  /** Why it is lost, never started, cancelled or unreadable. */
  readonly reason?: string;
  readonly total_bytes: number;
  readonly spooled_bytes: number;
  /** When its end was told to whoever started it. */
  readonly announced_at?: number;
  /** When its result was read. */
  readonly delivered_at?: number;
  readonly receipt?: Receipt;
}

/** A piece of a spool. `text` never starts or ends inside a character; `next_cursor` is where to read on. */
export interface SpoolPage {
  readonly cursor: number;
  readonly next_cursor: number;
  readonly chunks: readonly { readonly stream: 'stdout' | 'stderr'; readonly text: string }[];
  /** Nothing more will come after `next_cursor`. */
  readonly end: boolean;
  /** Bytes written by the process that the quota kept out of the spool. */
  readonly dropped_bytes: number;
}

export interface Jobs {
  /** Durable before it returns: the record is on disk (fsync) and its worker has it. */
  start(spec: RunSpec, signal: AbortSignal): Promise<JobRecord>;
  /** Newest first: of one agent, or of every agent there. */
  list(of: Pick<Owner, 'organization'> & Partial<Pick<Owner, 'agent'>>): Promise<readonly JobRecord[]>;
  get(job_id: string): Promise<JobRecord | undefined>;
  /** Waits up to `wait_ms` for something after `cursor`; also returns when the job ends. */
  output(
    job_id: string,
    request: { cursor: number; max_bytes: number; wait_ms: number },
    signal: AbortSignal,
  ): Promise<SpoolPage | undefined>;
  /** Resolves when it is over, with its final record. Idempotent. */
  cancel(job_id: string, reason: string): Promise<JobRecord | undefined>;
  /** Jobs of this Run that ended and were not announced yet; each is returned once, whichever process asks. */
  takeEnded(owner: Owner): Promise<readonly JobRecord[]>;
  /** The result of an ended job was read by `reader`; whoever started it needs no announcement of what it has just read. */
  markDelivered(job_id: string, reader: Owner): Promise<void>;
}

/** A job that is over and whose end no process has confirmed to be in the record. */
export interface JobEnd {
  readonly job_id: JobId;
  readonly owner: Owner;
  readonly action?: string;
  readonly ended_at: number;
  readonly result: RunResult;
}

/** What a start of Writ found and did. */
export interface RecoveryReport {
  /** Foreground runs whose owner is gone before it confirmed them: to be closed in the audit, `result` if it could still be read. */
  readonly orphaned_runs: readonly {
    readonly exec_id: ExecId;
    readonly owner: Owner;
    readonly action?: string;
    readonly result?: RunResult;
  }[];
  readonly swept_processes: number;
  readonly unreadable: readonly { readonly path: string; readonly reason: string }[];
  readonly removed: readonly { readonly job_id: JobId; readonly reason: 'retention' | 'quota' }[];
}

/** A program that stays and is spoken to over its standard streams. */
export interface ChannelSpec {
  /** What keeps its private HOME and TMPDIR apart from others' and names it in records: `upstream:NAME`. At most 200 characters. */
  readonly name: string;
  /** Program and arguments, never through a shell; the program absolute, relative to `cwd` with a slash, or looked up on the PATH. */
  readonly argv: readonly string[];
  /** Absolute; default: the first root, else the private HOME. */
  readonly cwd?: string;
  /** All of its variables but those that containment sets itself: HOME, TMPDIR, PATH as far as it is bound, USER, those of the proxy. */
  readonly env: Readonly<Record<string, string>>;
  /** Real paths; may be empty. */
  readonly roots: readonly WorkspaceBind[];
  /**
   * A folder below `Execution.installations()`, which no root may be in: what was installed for the program, for reading; what it is to
   * install there, for writing.
   */
  readonly installation?: WorkspaceBind;
  /** `full`: the host's, which is reported as not enforced. `own`: hosts that a person has chosen, opened wherever they lead, be it inside. */
  readonly network:
    | 'none'
    | 'full'
    | { readonly hosts: readonly string[]; readonly presets: readonly string[]; readonly own?: readonly string[] };
  /** Sockets of the host that it may connect to. */
  readonly unix_sockets: readonly string[];
  /** A private /dev/shm; without it there is none that could be written. */
  readonly dev_shm?: boolean;
  /** Lets a browser build its own sandbox inside. */
  readonly nested_userns?: boolean;
  readonly limits: Limits;
  /** The operator said so; never a fallback. Roots, network and sockets then limit nothing. */
  readonly uncontained?: true;
  readonly owner?: Owner;
}

export interface ChannelEnd {
  /** `closed`: by `close`. `disk`: it filled its private folders and was ended. */
  readonly cause: 'exited' | 'closed' | 'disk';
  /** 128 + its number where a signal ended it; absent when it could not be seen to exit. */
  readonly exit_code?: number;
  /** As the exit code tells. */
  readonly signal?: string;
  readonly teardown: TeardownReport;
  /** Limits that were hit: "memory", "pids", "fsize", "disk". */
  readonly limits_hit: readonly string[];
  /** Present when an allow-list was open. */
  readonly network?: NetworkUse;
  /**
   * Protected paths of its roots that are there now and weren't when it started. They are not moved away as after a run: it was there
   * for long, and a person may have made them.
   */
  readonly appeared: readonly string[];
}

export interface Channel {
  readonly exec_id: ExecId;
  /** The process that is killed with everything in it: the init of its namespace. */
  readonly identity: ProcessIdentity;
  readonly containment: ContainmentReport;
  /** Bytes as they are. A write that comes too late fails by its callback and is never thrown. */
  readonly stdin: Writable;
  /** Hold the writer back when they aren't read, and can be read to their end after `ended`; destroy what nobody reads. */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Its whole tree is gone, or could not be seen gone. Never rejects. */
  readonly ended: Promise<ChannelEnd>;
  /**
   * End of its input, `grace_ms` (2 s; at most 10 min) for it to go, TERM, as long again, KILL of the whole tree. Idempotent; a shorter grace of a
   * later call counts.
   */
  close(grace_ms?: number): Promise<ChannelEnd>;
}

/** Where a program was found on the host, links in the name of the file itself left as they are, or where it was looked for. */
export type ProgramFound = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly looked_in: readonly string[] };

/** The public face of the room. */
export interface Execution {
  /** Cached until the backend or its report changes; `fresh` probes again. */
  probe(options?: { fresh?: boolean }): Promise<ProbeResult>;
  /** Starts it; resolves once it can be cancelled (its record exists), not when it ends. */
  start(spec: RunSpec, signal: AbortSignal): Promise<RunHandle>;
  /** `start`, wait for the end and confirm it: for what no record is kept of. The deadline is never reset by output. */
  run(spec: RunSpec, signal: AbortSignal): Promise<RunResult>;
  /** Spooled output of a foreground run that has ended. */
  output(exec_id: string, request: { cursor: number; max_bytes: number }): Promise<SpoolPage | undefined>;
  /** The owner of a foreground run's record, or undefined. */
  ownerOf(exec_id: string): Promise<Owner | undefined>;
  readonly jobs: Jobs;
  /**
   * Starts a program that stays, as a child of this very process: it dies with it. `signal` ends the starting, not the channel. Throws
   * AppError: not_found (its program isn't there inside; says where it was looked for), invalid_arguments, containment_unavailable,
   * never_started, busy, cancelled.
   */
  connect(spec: ChannelSpec, signal: AbortSignal): Promise<Channel>;
  /** Where programs are installed for `ChannelSpec.installation`; made if missing. */
  installations(): string;
  /** Whether `connect` would find this program, without starting it. */
  findProgram(spec: Pick<ChannelSpec, 'argv' | 'env' | 'cwd'>): ProgramFound;
  /** At start: sweep, close what has no owner, apply retention. Idempotent, safe in several processes at once. */
  recover(): Promise<RecoveryReport>;
  /** Jobs whose end is to be recorded and confirmed, by this process and no other as long as it lives. */
  endedJobs(): Promise<readonly JobEnd[]>;
  /**
   * The audit holds how these ended: foreground runs of `start`, runs that `recover` reported, and `endedJobs`. Whoever starts one confirms
   * it once the outcome is stored. Until then it stays open: when its process is gone, `recover` reports it, with its result. One
   * that goes on, or is a job by now, is left as it is; twice is once.
   */
  confirm(ids: readonly (ExecId | JobId)[]): Promise<void>;
  /** For tools that read and write files in this process, and see there what a run would. Works without containment. */
  files(): Promise<FilesView>;
  /** Gets a runner process ready, and sandboxes for these Workspaces in it, off the start-up path. */
  warmUp(workspaces: readonly WorkspaceBind[]): void;
  /** Ends foreground runs and channels; jobs go on. */
  close(): Promise<void>;
}
