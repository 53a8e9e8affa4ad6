import type { SandboxPlan } from '../../src/execution/core-types.ts';
import type { Dimension, RunResult, RunSpec } from '../../src/execution/index.ts';
import type { ControlName } from './controls.ts';
import type { Scene } from './scene.ts';

/** What an escape leaves behind. Every run is looked over for all of them, whatever it was after. */
export type Damage =
  /** A secret of the outside is in the output. */
  | 'secret'
  /** The script says that a thing worked which must not; the word for it is random, so that no error text can hold it. */
  | 'claim'
  /** Files outside of the Workspace changed, or code of the run ran outside (it leaves a file there). */
  | 'outside'
  /** A listener outside was reached. */
  | 'contacted'
  /** A process outside was ended. */
  | 'victim'
  /** A file that other programs obey changed or appeared in the Workspace, and is still there. */
  | 'planted'
  /** Something of the run is alive. */
  | 'survivor'
  /** It didn't end by itself, or its end wasn't proved. */
  | 'unended';

/** What the machine itself allows, as far as attempts depend on it. */
export interface Host {
  /** The uid that runs have on the host. */
  readonly uid: number;
  /** Writ's own uid. */
  readonly self: number;
  readonly arch: string;
  readonly has: { readonly ipv6: boolean; readonly interfaces: boolean; readonly vsock: boolean };
  /** A setting below /proc/sys; undefined where this kernel doesn't have it. */
  sysctl(name: string): number | undefined;
  /** May everybody open this device? */
  open(path: string): boolean;
}

/**
 * One escape attempt, as data. The script knows the outside by variables (scene.ts) and must do no harm where it succeeds: it runs
 * with its control removed, and some run with nothing around them, as root.
 */
export interface Attempt {
  readonly id: string;
  readonly script: string;
  /** What it would leave behind. */
  readonly proof: Damage;
  /**
   * What stops it. Several: each of them alone does; the suite removes one at a time (it must still be contained), then all of
   * them (it must succeed). None: `inherent` says why nothing can be removed.
   */
  readonly stopped_by: readonly ControlName[];
  readonly inherent?: string;
  /** Why the machine itself stops it too, so that its success without the control can't be asked for here. */
  readonly host_stops?: (host: Host) => string | undefined;
  /** Contained only where this is enforced; elsewhere the receipt says that it isn't. */
  readonly needs?: Dimension;
  readonly spec?: Partial<RunSpec> | ((scene: Scene) => Partial<RunSpec>);
  /** Before the run is planned. */
  readonly prepare?: (scene: Scene) => void;
  /** After it was planned: somebody else's move, or a spoilt supervisor. */
  readonly between?: (plan: SandboxPlan, scene: Scene) => SandboxPlan;
  /** A person works with git in the Workspace afterwards, so that what was planted has its chance. */
  readonly afterwards?: 'git';
  /** Found on the result rather than said by the script; counts as `claim`. */
  readonly claims?: (result: RunResult) => boolean;
  /** The outcome when contained; default: it ends by itself. */
  readonly ends?: 'timed_out' | 'never_started';
}

export const onlyRoot = (host: Host): string | undefined => (host.uid === 0 ? undefined : 'its permissions keep everybody but root away');
