import { closeSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import type { SandboxPlan } from '../core-types.ts';
import { identify, signalOwned } from '../running/identity.ts';
import { gateMessage, launcherScript } from '../running/launcher.ts';
import type { NotPrepared } from '../running/prepare.ts';
import { pidNamespaceOf } from '../running/proc.ts';
import type { BuiltSandbox, Exit, TreeEnd } from '../running/sandbox.ts';
import { markerOf, sweepMarked } from '../running/sweep.ts';
import { endTree, terminateMembers } from '../running/teardown.ts';
import type { ProcessIdentity, TeardownReport } from '../types.ts';
import { callEngine, complaint } from './engine.ts';
import { environmentMessage, initScript, markerFlag, PIPES_AT, WORDS_FD } from './init-script.ts';
import { containerName, HOME_LABEL, homeTag } from './names.ts';
import type { Pipes } from './pipes.ts';
import { forgetContainer, recordContainer } from './records.ts';
import type { ContainerPlan } from './types.ts';

/** An engine that pulls up its storage for the first time takes its time. */
const START_MS = 30_000;
const READY_MS = 10_000;

/** A container at its gate. */
export interface Box extends BuiltSandbox {
  readonly tree: TreeEnd;
  /** Called the moment it says that it ends, while its control group is still there. */
  onEnd(look: () => void): void;
}

interface StartInput {
  readonly plan: SandboxPlan;
  readonly container: ContainerPlan;
  readonly marker: string;
  readonly pipes: Pipes;
  readonly stdin: boolean;
  readonly parts: { readonly clock: Clock; readonly supervisor: ProcessIdentity };
}

/** Starts it, finds its first process on this machine and waits until the launcher is at the gate; or ends all of it and says why. */
export async function startContainer(input: StartInput): Promise<Box | NotPrepared> {
  const { container, marker, pipes, plan } = input;
  const { engine, image } = container;
  const name = containerName(input.parts.supervisor, marker);
  const heard = listen(pipes);
  const remove = (): Promise<boolean> => removeContainer(container, name);
  const fail = async (reason: string): Promise<NotPrepared> => {
    const teardown = await abandon(marker, remove, input.parts.clock);
    for (const fd of [pipes.stdout, pipes.stderr]) closeSync(fd);
    pipes.close();
    return { reason, teardown };
  };
  recordContainer(container.home, name);
  pipes.gate.write(environmentMessage(plan.env, marker));
  const launcher = launcherScript([], false, [], false, WORDS_FD);
  const started = await callEngine(
    engine,
    [
      ...[
        'run',
        '--detach',
        `--name=${name}`,
        `--label=${HOME_LABEL}=${homeTag(container.home)}`,
        markerFlag(marker),
        '--workdir=/',
        ...container.flags,
      ],
      `--mount=type=bind,source=${pipes.folder},destination=${PIPES_AT},readonly`,
      ...[
        '--entrypoint=/bin/bash',
        image,
        '--noprofile',
        '--norc',
        '-c',
        initScript({ stdin: input.stdin, keeps_env: container.keeps_env }),
      ],
      ...['writ-init', launcher],
    ],
    { timeout_ms: START_MS },
  );
  if (started.code !== 0) return fail(`${engine.kind} did not start the container: ${complaint(started.stderr) || `exit ${started.code}`}`);
  const init = await initOf(container, name, marker);
  if (typeof init === 'string') return fail(init);
  if (!(await within(heard.ready, READY_MS)))
    return fail('the launcher in the container did not come to its gate (does the image have bash 4.3 or newer?)');
  pipes.unlink();
  const pid_namespace = pidNamespaceOf(init.pid);
  if (pid_namespace === undefined || pid_namespace === pidNamespaceOf('self')) return fail('the container has no PID namespace of its own');

  const kill = (): void => void signalOwned(init, 'SIGKILL');
  return {
    marker,
    outer: init,
    init,
    pid_namespace,
    exit: heard.exit,
    exited: heard.exited,
    ready: heard.ready,
    started: heard.started,
    inlets: Promise.resolve(new Map()),
    open: (order) => void pipes.gate.write(gateMessage(order)),
    kill,
    release: () => pipes.close(),
    onEnd: heard.onEnd,
    tree: {
      terminate: () => terminateMembers(pid_namespace, init),
      kill,
      async end() {
        const ended = await endTree({ init, pid_namespace }, () => input.parts.clock.monotonic());
        // The processes are what counts; a container that its engine still shows may be started again by somebody.
        return (await remove()) ? ended : { ...ended, verified: false };
      },
    },
  };
}

interface Heard {
  readonly ready: Promise<boolean>;
  readonly started: Promise<boolean>;
  readonly exit: Promise<Exit>;
  readonly exited: () => Exit | undefined;
  onEnd(look: () => void): void;
}

/** What a container says: `R` at the gate, `G` with the command in hand, `E` and a number at the end. Silence for ever is death. */
function listen({ word }: Pipes): Heard {
  const ready = Promise.withResolvers<boolean>();
  const started = Promise.withResolvers<boolean>();
  const exit = Promise.withResolvers<Exit>();
  let said = '';
  let exited: Exit | undefined;
  let look: (() => void) | undefined;
  word.on('data', (bytes: Buffer) => {
    said = (said + bytes.toString('latin1')).slice(0, 32);
    if (said.startsWith('R')) ready.resolve(true);
    if (said.startsWith('RG')) started.resolve(true);
    if (/^RG?E\d+\n/.test(said)) look?.();
  });
  word.on('error', () => undefined);
  word.on('close', () => {
    ready.resolve(false);
    started.resolve(false);
    const status = /E(\d{1,3})\n$/.exec(said)?.[1];
    exited = status === undefined ? { code: null, signal: 'SIGKILL' } : { code: Number(status), signal: null };
    look?.();
    exit.resolve(exited);
  });
  return {
    ready: ready.promise,
    started: started.promise,
    exit: exit.promise,
    exited: () => exited,
    onEnd(then) {
      look = then;
    },
  };
}

/**
 * The engine names the first process; that it is ours, and on this machine, is seen in /proc: the marker of this run is in its
 * environment, and nobody else was given that.
 */
async function initOf({ engine }: ContainerPlan, name: string, marker: string): Promise<ProcessIdentity | string> {
  const answer = await callEngine(engine, ['inspect', '--type=container', '--format={{.State.Pid}}', name]);
  const pid = Number(answer.stdout.trim());
  if (answer.code !== 0 || !Number.isSafeInteger(pid))
    return `${engine.kind} does not know the container it started: ${complaint(answer.stderr)}`;
  if (pid <= 1) return 'the container ended before its launcher was at the gate';
  const identity = identify(pid);
  if (identity === undefined || markerOf(pid) !== marker) {
    return `the process ${pid} that ${engine.kind} names is not the one of this container: does the engine run on this machine and for this user?`;
  }
  return identity;
}

/** True when the engine has none of this name any more. */
async function removeContainer({ engine, home }: ContainerPlan, name: string): Promise<boolean> {
  const removed = await callEngine(engine, ['rm', '--force', '--volumes', name]);
  // Of one that isn't there engines say different things: then the list decides.
  const left = removed.code === 0 ? undefined : await callEngine(engine, ['ps', '--all', '--quiet', '--filter', `name=^${name}$`]);
  const gone = left === undefined || (left.code === 0 && left.stdout.trim() === '');
  if (gone) forgetContainer(home, name);
  return gone;
}

/** What there is of it is ended, by the engine and by its marker. */
async function abandon(marker: string, remove: () => Promise<boolean>, clock: Clock): Promise<TeardownReport> {
  const begun = clock.monotonic();
  const removed = await remove();
  const { survivors } = await sweepMarked(new Set([marker]));
  return { verified: removed && survivors.length === 0, method: 'scan', survivors, ms: Math.round(clock.monotonic() - begun) };
}

async function within(condition: Promise<boolean>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([condition, late]);
  } finally {
    clearTimeout(timer);
  }
}
