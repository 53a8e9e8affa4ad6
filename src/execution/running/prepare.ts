import { closeSync, readSync } from 'node:fs';
import type { Clock } from '../../kernel/clock.ts';
import { checkMounts } from '../containment/check-mounts.ts';
import type { SandboxPlan } from '../core-types.ts';
import { closeInlets, type Inlets } from '../network/inlets.ts';
import type { Dimension, DimensionReport, RunSpec, TeardownReport } from '../types.ts';
import { carryReadOnly } from './carrier.ts';
import type { Carriers } from './carriers.ts';
import type { Cgroups, RunGroup } from './cgroups.ts';
import type { FifoPool } from './fifo-pool.ts';
import { membersOf } from './proc.ts';
import { type HardLimits, processLimitReports, ulimitLines } from './rlimits.ts';
import { awaitBuilt, type BuiltSandbox, type Sandbox, type StandardStreams, spawnSandbox } from './sandbox.ts';
import { sweepMarked } from './sweep.ts';
import { endTree } from './teardown.ts';
import { openTerminal, type Terminal } from './terminal.ts';

/** Our ends of the standard streams. */
export type Ends =
  | {
      readonly kind: 'pipes';
      /** Only where the caller writes to it. */
      readonly stdin?: number;
      readonly stdout: number;
      readonly stderr: number;
    }
  | { readonly kind: 'terminal'; readonly terminal: Terminal };

/** A sandbox at its gate, its limits in force, everything checked: the next thing is an identity on disk and the token. */
export interface Prepared {
  readonly plan: SandboxPlan;
  readonly sandbox: BuiltSandbox;
  readonly ends: Ends;
  readonly group: RunGroup | undefined;
  readonly inlets: Inlets;
  readonly limits: Readonly<Partial<Record<Dimension, DimensionReport>>>;
}

/** It could not be brought to the gate; what there was of it has been ended. */
export interface NotPrepared {
  readonly reason: string;
  readonly teardown: TeardownReport;
}

export interface PrepareParts {
  readonly clock: Clock;
  readonly fifos: FifoPool;
  readonly cgroups: Cgroups;
  readonly scratch: string;
  readonly carriers?: Carriers;
  readonly hard: HardLimits;
}

export interface PrepareInput {
  readonly plan: SandboxPlan;
  readonly marker: string;
  /** `open`: a pipe that stays, for whoever prepares it to write to. */
  readonly stdin: RunSpec['stdin'] | 'open';
  readonly pty?: RunSpec['pty'];
}

export async function prepare(request: PrepareInput, parts: PrepareParts): Promise<Prepared | NotPrepared> {
  const { plan } = request;
  const opened = await openStreams(request, parts);
  const group = parts.cgroups.group(plan.limits);
  const limits = { ...processLimitReports(group?.dimensions ?? {}), ...group?.dimensions };
  let sandbox: Sandbox;
  try {
    const spawn = (): Sandbox =>
      spawnSandbox({
        plan,
        marker: request.marker,
        streams: opened.theirs,
        scratch: parts.scratch,
        ...(parts.carriers ? { carriers: parts.carriers } : {}),
        limitLines: ulimitLines(plan.limits, parts.hard, group?.dimensions ?? {}),
      });
    sandbox = group === undefined ? spawn() : group.spawnInside(spawn);
  } catch (error) {
    closeEnds(opened.ours);
    group?.release();
    throw error;
  } finally {
    opened.closeTheirs();
  }
  const built = await awaitBuilt(sandbox);
  // Sent before the launcher said that it is ready.
  const inlets = typeof built === 'string' ? undefined : await sandbox.inlets;
  const complaint = typeof built === 'string' ? built : adopt(built, group, plan);
  if (typeof built !== 'string' && inlets !== undefined && complaint === undefined)
    return { plan, sandbox: built, ends: opened.ours, group, inlets, limits };
  sandbox.inlets.then((made) => made && closeInlets(made));
  const teardown = await abandon(typeof built === 'string' ? sandbox : built, parts.clock);
  const said = readLastWords(opened.ours);
  closeEnds(opened.ours);
  sandbox.release();
  group?.release();
  return { reason: [complaint, said].filter((text) => text !== undefined && text.length > 0).join(': '), teardown };
}

/** While the launcher waits nothing forks, so that whoever is in the namespace now is all there is. */
function adopt(sandbox: BuiltSandbox, group: RunGroup | undefined, plan: SandboxPlan): string | undefined {
  if (group?.needsAdoption === true) {
    const members = membersOf(sandbox.pid_namespace);
    if (members === undefined) return 'the processes of the sandbox could not be listed, so that its limits could not be put on them';
    group.adopt(members);
  }
  return checkMounts(plan, sandbox.init.pid);
}

interface Opened {
  readonly theirs: StandardStreams;
  readonly ours: Ends;
  closeTheirs(): void;
}

export async function openStreams(request: PrepareInput, parts: PrepareParts): Promise<Opened> {
  if (request.pty !== undefined) {
    const terminal = await openTerminal(request.pty, request.plan.drop);
    return { theirs: { kind: 'terminal', slave: terminal.slave }, ours: { kind: 'terminal', terminal }, closeTheirs: () => undefined };
  }
  const [stdout, stderr] = await parts.fifos.takePair();
  const close = (): void => {
    closeSync(stdout.theirs);
    closeSync(stderr.theirs);
  };
  const pipes = { kind: 'pipes', stdout: stdout.ours, stderr: stderr.ours } as const;
  let stdin: number | undefined;
  let ours: Ends = pipes;
  try {
    if (request.stdin === 'open') {
      const input = await parts.fifos.takeInput();
      stdin = input.theirs;
      ours = { ...pipes, stdin: input.ours };
    } else if (request.stdin !== 'closed') stdin = carryReadOnly(parts.scratch, request.stdin);
  } catch (error) {
    close();
    closeEnds(pipes);
    throw error;
  }
  return {
    theirs: { kind: 'pipes', stdin: stdin ?? 'ignore', stdout: stdout.theirs, stderr: stderr.theirs },
    ours,
    closeTheirs() {
      close();
      if (stdin !== undefined) closeSync(stdin);
    },
  };
}

/** Ends what never passed its gate. */
async function abandon(sandbox: Sandbox | BuiltSandbox, clock: Clock): Promise<TeardownReport> {
  sandbox.kill();
  if (sandbox.tree) return sandbox.tree.end();
  if ('init' in sandbox) return endTree(sandbox, () => clock.monotonic());
  // Without a known init it is found by its marker: bubblewrap may have died between making it and naming it.
  const started = clock.monotonic();
  await sandbox.exit;
  const { survivors } = await sweepMarked(new Set([sandbox.marker]));
  return { verified: survivors.length === 0, method: 'scan', survivors, ms: Math.round(clock.monotonic() - started) };
}

/** Ends one that isn't needed or must not be used, and lets go of everything it has. */
export async function dismiss(prepared: Prepared, clock: Clock): Promise<TeardownReport> {
  const teardown = await abandon(prepared.sandbox, clock);
  closeEnds(prepared.ends);
  closeInlets(prepared.inlets);
  prepared.sandbox.release();
  prepared.group?.release();
  return teardown;
}

/** What bubblewrap complained about. The writers are dead, so that this doesn't wait. */
function readLastWords(ends: Ends): string {
  if (ends.kind === 'terminal') return '';
  const words = Buffer.alloc(4096);
  try {
    return words.toString('utf8', 0, readSync(ends.stderr, words)).trim();
  } catch {
    // EAGAIN: somebody holds the pipe and says nothing.
    return '';
  }
}

export function closeEnds(ends: Ends): void {
  if (ends.kind === 'terminal') {
    ends.terminal.destroy();
    return;
  }
  if (ends.stdin !== undefined) closeSync(ends.stdin);
  closeSync(ends.stdout);
  closeSync(ends.stderr);
}
