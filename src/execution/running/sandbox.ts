import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync } from 'node:fs';
import { Duplex, type Readable, type Writable } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';
import type { SandboxPlan } from '../core-types.ts';
import { type Inlets, inletLines, openNode, receiveInlets } from '../network/inlets.ts';
import type { ProcessIdentity, TeardownReport } from '../types.ts';
import { carry } from './carrier.ts';
import type { Carriers } from './carriers.ts';
import { identify } from './identity.ts';
import { NO_NAMESPACE } from './identity-file.ts';
import { GATE_FD, gateMessage, launcherEnvironment, launcherScript, type Order } from './launcher.ts';
import { pidNamespaceOf } from './proc.ts';
import { type Born, readBirth } from './status.ts';

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
  /** Pipes of the child process object. */
  | { readonly kind: 'live' }
  | { readonly kind: 'pipes'; readonly stdin: number | 'ignore'; readonly stdout: number; readonly stderr: number }
  | { readonly kind: 'terminal'; readonly slave: number };

/** What waits at its gate, whatever it is built with; nothing of the user has run, and won't before `open`. */
export interface Gated {
  readonly marker: string;
  readonly outer: ProcessIdentity | undefined;
  readonly exit: Promise<Exit>;
  readonly exited: () => Exit | undefined;
  /** True once the launcher waits at the gate; false when it never will. */
  readonly ready: Promise<boolean>;
  /** True when the launcher has the whole command and goes on to run it; false when it never will: then nothing has run. */
  readonly started: Promise<boolean>;
  /** Sockets that were made inside for `plan.network`; there before `ready`. Undefined: it ended without them. */
  readonly inlets: Promise<Inlets | undefined>;
  /** Sends the token, where to start and the command. Exactly once. */
  open(order: Order): void;
  /** Ends what was started, at once; nothing is proved by it. */
  kill(): void;
  /** Lets go of the pipes to it. */
  release(): void;
  /** How its tree is ended and seen gone, where the death of its init isn't all there is to it. */
  readonly tree?: TreeEnd;
}

export interface TreeEnd {
  terminate(): void;
  kill(): void;
  end(): Promise<TeardownReport>;
}

/** bubblewrap has been started. */
export interface Sandbox extends Gated {
  readonly child: ChildProcess;
  readonly born: Promise<Born | undefined>;
}

export interface BuiltSandbox extends Gated {
  readonly outer: ProcessIdentity;
  readonly init: ProcessIdentity;
  readonly pid_namespace: string;
}

interface SpawnInput {
  readonly plan: Pick<SandboxPlan, 'bwrap' | 'args' | 'env' | 'drop' | 'seccomp' | 'network'>;
  readonly marker: string;
  readonly streams: StandardStreams;
  /** Where carriers may be made: private, on a writable disk. */
  readonly scratch: string;
  /** Where options and filter are kept from one sandbox to the next. Default: they are made for this one. */
  readonly carriers?: Carriers;
  readonly limitLines: readonly string[];
}

/** In a session of its own, so that no terminal of ours is its controlling one, and with no environment but the planned one. */
export function spawnSandbox(input: SpawnInput): Sandbox {
  const { plan, streams } = input;
  const terminal = streams.kind === 'terminal';
  const hasFilter = plan.seccomp.byteLength > 0;
  const argv = [
    ...['--args', String(ARGS_FD), '--json-status-fd', String(STATUS_FD)],
    ...(hasFilter ? ['--seccomp', String(SECCOMP_FD)] : []),
    '--',
    // Inside, so that the terminal belongs to the session of the command: Ctrl-C reaches it and not bubblewrap, which would die of it.
    ...(terminal ? ['/usr/bin/setsid', '--ctty'] : []),
    ...['/bin/bash', '--noprofile', '--norc', '-c', launcherScript(input.limitLines, terminal, inletLines(plan.network)), 'bash'],
  ];
  const carrier = (bytes: Uint8Array): number => input.carriers?.lend(bytes) ?? carry(input.scratch, bytes);
  const args = carrier(Buffer.from(plan.args.map((arg) => `${arg}\0`).join('')));
  let seccomp: number | undefined;
  let node: number | undefined;
  try {
    node = plan.network === undefined ? undefined : openNode();
    seccomp = carrier(plan.seccomp);
    const child = spawn(plan.bwrap, argv, {
      cwd: '/',
      detached: true,
      env: launcherEnvironment(plan.env, input.marker),
      ...(plan.drop === undefined ? {} : { uid: plan.drop.uid, gid: plan.drop.gid }),
      stdio: [
        ...standardStreams(streams),
        args,
        seccomp,
        'pipe',
        'pipe',
        // CHANNEL_FD and NODE_FD. The channel is over before any user code exists.
        ...(node === undefined ? [] : ['ipc' as const, node]),
      ],
    });
    return { ...watch(child, input.marker), inlets: receiveInlets(child, plan.network) };
  } finally {
    closeSync(args);
    if (seccomp !== undefined) closeSync(seccomp);
    if (node !== undefined) closeSync(node);
  }
}

function standardStreams(streams: StandardStreams): (number | 'ignore' | 'pipe')[] {
  switch (streams.kind) {
    case 'live':
      return ['pipe', 'pipe', 'pipe'];
    case 'pipes':
      return [streams.stdin, streams.stdout, streams.stderr];
    case 'terminal':
      return [streams.slave, streams.slave, streams.slave];
  }
}

/** The same launcher at the same gate, without a sandbox. */
export function spawnUncontained({ plan, marker, streams }: Pick<SpawnInput, 'plan' | 'marker' | 'streams'>): Sandbox {
  if (streams.kind !== 'pipes') throw new AppError('internal', 'A run without containment has no terminal.');
  const child = spawn('/bin/bash', ['--noprofile', '--norc', '-c', launcherScript([], false, [], true), 'bash'], {
    cwd: '/',
    detached: true,
    env: launcherEnvironment(plan.env, marker),
    ...(plan.drop === undefined ? {} : { uid: plan.drop.uid, gid: plan.drop.gid }),
    stdio: [streams.stdin, streams.stdout, streams.stderr, 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  return { ...watch(child, marker), inlets: receiveInlets(child, undefined) };
}

/** Waits until it is at the gate; it is its own init, and shares the namespace of everybody. */
export async function awaitAtGate(sandbox: Sandbox): Promise<BuiltSandbox | string> {
  const timeout = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => timeout.resolve(false), BUILD_TIMEOUT_MS);
  try {
    const ready = await Promise.race([sandbox.ready, timeout.promise]);
    const { outer } = sandbox;
    if (!ready || outer === undefined) return sandbox.exited()?.error ?? 'the launcher ended before it was at its gate';
    return { ...sandbox, outer, init: outer, pid_namespace: NO_NAMESPACE };
  } finally {
    clearTimeout(timer);
  }
}

function watch(child: ChildProcess, marker: string): Omit<Sandbox, 'inlets'> {
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
  const ready = Promise.withResolvers<boolean>();
  const started = Promise.withResolvers<boolean>();
  const over = (): void => {
    ready.resolve(false);
    started.resolve(false);
  };
  // The launcher may be gone before it has read everything (ECONNRESET, EPIPE); what it wrote before is read first.
  for (const event of ['error', 'close', 'end']) gateStream.on(event, over);
  let words = 0;
  gateStream.on('data', (said: Buffer) => {
    words += said.length;
    ready.resolve(true);
    if (words === 1) return;
    started.resolve(true);
    // It has said all it says and heard all it hears: let go of now, while the command runs, and not when its end is waited for.
    gateStream.destroy();
  });
  return {
    marker,
    child,
    outer: child.pid === undefined ? undefined : identify(child.pid),
    exit,
    exited: () => exited,
    born: readBirth(statusStream),
    ready: ready.promise,
    started: started.promise,
    open(order) {
      // Lengths say where it ends: no end of the pipe is needed, and each further call to the kernel lets the launcher run before us.
      gateStream.write(gateMessage(order));
    },
    kill: () => void child.kill('SIGKILL'),
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
 * Waits until the launcher is at the gate, and checks against /proc what bubblewrap said about its init. A string says why nothing can be let through; the caller then ends what there is.
 */
export async function awaitBuilt(sandbox: Sandbox): Promise<BuiltSandbox | string> {
  const timeout = Promise.withResolvers<'timeout'>();
  const timer = setTimeout(() => timeout.resolve('timeout'), BUILD_TIMEOUT_MS);
  const late = `bubblewrap did not build the sandbox within ${BUILD_TIMEOUT_MS} ms`;
  const ended = 'bubblewrap ended before it had built the sandbox';
  try {
    const born = await Promise.race([sandbox.born, timeout.promise]);
    if (born === 'timeout') return late;
    if (born === undefined) return sandbox.exited()?.error ?? ended;
    const { outer } = sandbox;
    const init = identify(born.init);
    const namespace = pidNamespaceOf(born.init);
    const ready = await Promise.race([sandbox.ready, timeout.promise]);
    if (ready === 'timeout') return late;
    if (!ready || outer === undefined || init === undefined) return ended;
    if (namespace === undefined || namespace !== born.pid_namespace || namespace === pidNamespaceOf('self')) {
      return `the init of the sandbox (${born.init}) is not in the PID namespace that bubblewrap named (${born.pid_namespace})`;
    }
    return { ...sandbox, outer, init, pid_namespace: namespace };
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the word that the command runs; one that stays away for this long is answered by ending the sandbox. */
export async function awaitStarted(sandbox: Pick<Gated, 'started'>): Promise<boolean> {
  const timeout = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => timeout.resolve(false), BUILD_TIMEOUT_MS);
  try {
    return await Promise.race([sandbox.started, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}
