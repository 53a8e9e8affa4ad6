import { isDeepStrictEqual } from 'node:util';
import type { SandboxPlan } from '../../src/execution/core-types.ts';
import type { RunSpec } from '../../src/execution/index.ts';
import type { Scene } from './scene.ts';

/** How a plan is carried out: by Writ; by bubblewrap without Writ's launcher and supervision; not at all. */
export type Way = 'writ' | 'bubblewrap' | 'bubblewrap in a terminal' | 'uncontained';

interface Control {
  /** The plan without it; absent where it isn't in the plan but in how it is carried out. */
  readonly without?: (plan: SandboxPlan, scene: Scene) => SandboxPlan;
  readonly spec?: Partial<RunSpec>;
  readonly way?: Way;
}

const LOTS = 2 ** 40;
const ALLOW_ALL = Uint8Array.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f]);

type Step = readonly string[];

/** How many arguments the options of our plans take. */
const ARITY: Readonly<Record<string, number>> = {
  '--bind': 2,
  '--ro-bind': 2,
  '--bind-try': 2,
  '--ro-bind-try': 2,
  '--dev-bind': 2,
  '--symlink': 2,
  '--uid': 1,
  '--gid': 1,
  '--hostname': 1,
  '--cap-drop': 1,
  '--cap-add': 1,
  '--perms': 1,
  '--size': 1,
  '--tmpfs': 1,
  '--dir': 1,
  '--proc': 1,
  '--dev': 1,
  '--remount-ro': 1,
  '--chdir': 1,
};

function steps(args: readonly string[]): readonly Step[] {
  const found: Step[] = [];
  for (let at = 0; at < args.length; ) {
    const length = 1 + (ARITY[args[at] ?? ''] ?? 0);
    found.push(args.slice(at, at + length));
    at += length;
  }
  return found;
}

/** Rewrites the options one by one: another step, none, or the same. */
function rewrite(plan: SandboxPlan, change: (step: Step) => Step | undefined): SandboxPlan {
  return { ...plan, args: steps(plan.args).flatMap((step) => change(step) ?? []) };
}

const is = (step: Step, ...words: readonly string[]): boolean => words.every((word, index) => word === '*' || step[index] === word);
const swap =
  (from: Step, to: Step | undefined) =>
  (plan: SandboxPlan): SandboxPlan =>
    rewrite(plan, (step) => (is(step, ...from) ? to : step));
const drop = (...words: readonly string[]) => swap(words, undefined);
const inside = (path: string | undefined, folder: string): boolean => path?.startsWith(`${folder}/`) === true;

/** Real folders in place of private ones; what was expected to be mounted there is no longer. */
function reveal(plan: SandboxPlan, hidden: string, real: string): SandboxPlan {
  const moved = rewrite(plan, ([option = '', source = '', ...rest]) =>
    source === hidden || inside(source, hidden)
      ? [option, `${real}${source.slice(hidden.length)}`, ...rest]
      : [option, ...(source ? [source] : []), ...rest],
  );
  return { ...moved, expect: [] };
}

/** What stands between a run and the outside, and how to take it away. A removal that changes nothing fails the suite. */
export const CONTROLS = {
  'private /tmp': { without: (plan) => reveal(plan, plan.private_tmp, '/tmp') },
  'private HOME': { without: (plan, { user_home }) => reveal(plan, plan.private_home, user_home) },
  'selected /etc': {
    without: (plan) =>
      rewrite(plan, (step) => (step[2] === '/etc' ? ['--ro-bind', '/etc', '/etc'] : inside(step[2], '/etc') ? undefined : step)),
  },
  'empty /run': { without: swap(['--dir', '/run'], ['--bind', '/run', '/run']) },
  'hidden /sys': { without: swap(['--ro-bind-try', '/sys/devices/system/cpu'], ['--bind', '/sys', '/sys']) },
  'own /dev': { without: (plan) => swap(['--dev', '/dev'], ['--dev-bind', '/dev', '/dev'])(drop('--remount-ro', '/dev')(plan)) },
  'own /dev/shm': {
    without: (plan) =>
      rewrite(plan, (step) =>
        is(step, '--tmpfs', '/dev/shm') ? ['--bind', '/dev/shm', '/dev/shm'] : is(step, '--perms') || is(step, '--size') ? undefined : step,
      ),
  },
  'sealed /dev': { without: drop('--remount-ro', '/dev') },
  'sealed root': { without: drop('--remount-ro', '/') },
  'read-only system': { without: swap(['--ro-bind', '/usr', '/usr'], ['--bind', '/usr', '/usr']) },
  'covers in /proc': { without: (plan) => rewrite(plan, (step) => (inside(step[2], '/proc') ? undefined : step)) },
  'network namespace': { without: drop('--unshare-net') },
  'IPC namespace': { without: drop('--unshare-ipc') },
  /** Writ doesn't let anything start without one, so bubblewrap alone has to show what it is good for. */
  'PID namespace': { without: drop('--unshare-pid'), way: 'bubblewrap' },
  'no capabilities': { without: swap(['--cap-drop', 'ALL'], ['--cap-add', 'ALL']) },
  'no nested user namespaces': { without: drop('--disable-userns') },
  /** bubblewrap ends in a second user namespace, which owns none of the others, unless the run is shown as uid 0. */
  'inner user namespace': {
    without(plan) {
      const one = rewrite(plan, (step) => (['--disable-userns', '--uid', '--gid'].includes(step[0] ?? '') ? undefined : step));
      return { ...one, args: ['--uid', '0', '--gid', '0', ...one.args] };
    },
  },
  'system call filter': { without: (plan) => ({ ...plan, seccomp: ALLOW_ALL }) },
  'no terminal': { without: drop('--new-session'), way: 'bubblewrap in a terminal' },
  'start gate': { way: 'bubblewrap' },
  'chosen environment': { without: (plan, { host_env }) => ({ ...plan, env: { ...host_env, ...plan.env } }) },
  'read-only guards': {
    without: (plan, { workspace }) => rewrite(plan, (step) => (is(step, '--ro-bind') && inside(step[2], workspace) ? undefined : step)),
  },
  'pinned parents': {
    without: (plan, { workspace }) => ({
      ...rewrite(plan, (step) => (is(step, '--bind') && inside(step[2], workspace) ? undefined : step)),
      expect: [],
    }),
  },
  quarantine: { without: (plan) => ({ ...plan, watch: [], repositories: [] }) },
  'links put back': { without: (plan) => ({ ...plan, links: [] }) },
  'look at the mounts': { without: (plan) => ({ ...plan, expect: [] }) },
  limits: {
    without: (plan) => ({
      ...plan,
      limits: { memory_bytes: LOTS, pids: 30_000, cpus: 64, file_bytes: LOTS, open_files: 500_000, disk_bytes: LOTS },
    }),
  },
  deadline: { spec: { timeout_ms: 60_000 } },
  /** For what several layers stop that can't be removed singly: is it an escape at all? */
  'the whole sandbox': { way: 'uncontained' },
} as const satisfies Readonly<Record<string, Control>>;

/** Those that keep a run from what only root could do anyway; and /run, where only root can put something for this suite. */
export const CONTROLS_OF_ROOT: ReadonlySet<string> = new Set([
  'selected /etc',
  'read-only system',
  'covers in /proc',
  'own /dev',
  'empty /run',
]);

export type ControlName = keyof typeof CONTROLS;

/** Where a control is taken from the plan and its way changes too, the way alone must not be what lets an attempt succeed. */
export function wayWithout(names: readonly ControlName[]): Way | undefined {
  const controls: readonly Control[] = names.map((name) => CONTROLS[name]);
  return controls.find(({ way, without }) => way !== undefined && without !== undefined)?.way;
}

export interface Ablated {
  readonly plan: SandboxPlan;
  readonly spec: Partial<RunSpec>;
  readonly way: Way;
}

export function without(names: readonly ControlName[], plan: SandboxPlan, scene: Scene): Ablated {
  let ablated: Ablated = { plan, spec: {}, way: 'writ' };
  for (const name of names) {
    const control: Control = CONTROLS[name];
    const changed = control.without?.(ablated.plan, scene) ?? ablated.plan;
    if (control.without && isDeepStrictEqual(changed, ablated.plan)) throw new Error(`removing "${name}" changed nothing in the plan`);
    ablated = { plan: changed, spec: { ...ablated.spec, ...control.spec }, way: control.way ?? ablated.way };
  }
  return ablated;
}
