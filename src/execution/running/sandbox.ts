import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';
import type { SandboxPlan } from '../core-types.ts';
import type { ProcessIdentity } from '../types.ts';
import { carry } from './carrier.ts';
import { identify } from './identity.ts';
import { GATE_FD, gateMessage, launcherEnvironment, launcherScript } from './launcher.ts';
import { pidNamespaceOf } from './proc.ts';
import { readStatus, type SandboxStatus } from './status.ts';

const ARGS_FD = 3;
const SECCOMP_FD = 4;
const STATUS_FD = 5;
/** Building a sandbox takes milliseconds; a machine that swaps may need more. */
const BUILD_TIMEOUT_MS = 10_000;

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why there never was a process. */
  readonly error?: string;
}

/** Descriptors for the standard streams; the sandbox has its copies once `spawnSandbox` has returned. */
export type StandardStreams =
  | { readonly kind: 'pipes'; readonly stdin: number | 'ignore'; readonly stdout: number; readonly stderr: number }
  | { readonly kind: 'terminal'; readonly path: string };

/** bubblewrap has been started; nothing of the user has run, and won't before `open`. */
export interface Sandbox {
  readonly marker: string;
  readonly child: ChildProcess;
  readonly outer: ProcessIdentity | undefined;
  readonly exit: Promise<Exit>;
  readonly exited: () => Exit | undefined;
  readonly status: SandboxStatus;
  /** Sends the token and the command. Exactly once. */
  open(command: string): void;
  /** Lets go of the pipes to it. */
  release(): void;
}

export interface BuiltSandbox extends Sandbox {
  readonly outer: ProcessIdentity;
  readonly init: ProcessIdentity;
  readonly pid_namespace: string;
}

interface SpawnInput {
  readonly plan: SandboxPlan;
  readonly marker: string;
  readonly streams: StandardStreams;
  /** Where carriers may be made: private, on a writable disk. */
  readonly scratch: string;
  readonly limitLines: readonly string[];
}

/** In a session of its own, so that no terminal of ours is its controlling one, and with no environment but the planned one. */
export function spawnSandbox(input: SpawnInput): Sandbox {
  const { plan, streams } = input;
  const bwrapArgv = [
    '--args',
    String(ARGS_FD),
    '--seccomp',
    String(SECCOMP_FD),
    '--json-status-fd',
    String(STATUS_FD),
    '--',
    '/bin/bash',
    '--noprofile',
    '--norc',
    '-c',
    launcherScript(input.limitLines),
    'bash',
  ];
  const [file, argv] =
    streams.kind === 'pipes' ? [plan.bwrap, bwrapArgv] : ['/bin/bash', [...ACQUIRE_TERMINAL, streams.path, plan.bwrap, ...bwrapArgv]];
  const args = carry(input.scratch, Buffer.from(plan.args.map((arg) => `${arg}\0`).join('')));
  let seccomp: number | undefined;
  try {
    seccomp = carry(input.scratch, plan.seccomp);
    const child = spawn(file, argv, {
      cwd: '/',
      detached: true,
      env: launcherEnvironment(plan.env, input.marker),
      ...(plan.drop === undefined ? {} : { uid: plan.drop.uid, gid: plan.drop.gid }),
      stdio: [
        ...(streams.kind === 'pipes' ? [streams.stdin, streams.stdout, streams.stderr] : (['ignore', 'ignore', 'ignore'] as const)),
        args,
        seccomp,
        'pipe',
        'pipe',
      ],
    });
    return watch(child, input.marker);
  } finally {
    closeSync(args);
    if (seccomp !== undefined) closeSync(seccomp);
  }
}

/** A session leader without a terminal gets the first one it opens as its controlling one, and keeps it through exec. */
const ACQUIRE_TERMINAL = ['--noprofile', '--norc', '-c', 'exec 0<>"$0" 1>&0 2>&0; exec "$@"'];

function watch(child: ChildProcess, marker: string): Sandbox {
  let exited: Exit | undefined;
  const exit = new Promise<Exit>((resolve) => {
    child.on('exit', (code, signal) => {
      exited = { code, signal };
      resolve(exited);
    });
    child.on('error', (error) => {
      // Other errors (a signal that couldn't be sent) are no end.
      if (child.pid !== undefined) return;
      exited = { code: null, signal: null, error: error.message };
      resolve(exited);
    });
  });
  const pipes: readonly (Readable | Writable | null | undefined)[] = child.stdio;
  const statusStream = asDuplex(pipes[STATUS_FD]);
  const gateStream = asDuplex(pipes[GATE_FD]);
  const status = readStatus(statusStream);
  // The launcher may be gone before it has read everything (ECONNRESET, EPIPE): its exit tells that better.
  gateStream.on('error', () => undefined);
  gateStream.resume();
  return {
    marker,
    child,
    outer: child.pid === undefined ? undefined : identify(child.pid),
    exit,
    exited: () => exited,
    status,
    open(command) {
      gateStream.end(gateMessage(command));
    },
    release() {
      gateStream.destroy();
      statusStream.destroy();
    },
  };
}

function asDuplex(stream: Readable | Writable | null | undefined): Duplex {
  if (stream instanceof Duplex) return stream;
  throw new AppError('internal', 'A pipe to the sandbox is missing.');
}

/**
 * Waits until bubblewrap has said who its init is, and checks that against /proc. A string says why nothing can be let through; the
 * caller then ends what there is.
 */
export async function awaitBuilt(sandbox: Sandbox): Promise<BuiltSandbox | string> {
  const timeout = Promise.withResolvers<'timeout'>();
  const timer = setTimeout(() => timeout.resolve('timeout'), BUILD_TIMEOUT_MS);
  try {
    const born = await Promise.race([sandbox.status.born, timeout.promise]);
    if (born === 'timeout') return `bubblewrap did not build the sandbox within ${BUILD_TIMEOUT_MS} ms`;
    if (born === undefined) return sandbox.exited()?.error ?? 'bubblewrap ended before it had built the sandbox';
    const { outer } = sandbox;
    const init = identify(born.init);
    const namespace = pidNamespaceOf(born.init);
    if (outer === undefined || init === undefined) return 'the sandbox ended while it was being built';
    if (namespace === undefined || namespace !== born.pid_namespace || namespace === pidNamespaceOf('self')) {
      return `the init of the sandbox (${born.init}) is not in the PID namespace that bubblewrap named (${born.pid_namespace})`;
    }
    return { ...sandbox, outer, init, pid_namespace: namespace };
  } finally {
    clearTimeout(timer);
  }
}
