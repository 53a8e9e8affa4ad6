import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { findBwrap } from '../containment/bwrap.ts';
import { selfIdentity } from '../jobs/running-processes.ts';
import type { Guard } from '../network/guard.ts';
import { closeInlets } from '../network/inlets.ts';
import { createCgroups } from '../running/cgroups.ts';
import { membersOf } from '../running/proc.ts';
import { ownHardLimits, ulimitLines } from '../running/rlimits.ts';
import { awaitBuilt, awaitStarted, type BuiltSandbox, type Sandbox, spawnSandbox } from '../running/sandbox.ts';
import { sweepMarked } from '../running/sweep.ts';
import { endTree } from '../running/teardown.ts';
import type { TeardownReport } from '../types.ts';
import { chromiumFlags } from './chromium-flags.ts';
import { findChromium, INSTALL_CHROMIUM } from './find-chromium.ts';
import { type BrowserTransport, createPipeTransport } from './pipe-transport.ts';
import { sweepBrowsers, writeBrowserRecord } from './records.ts';
import { browserPlan } from './sandbox-plan.ts';
import { createSlots, type Slot } from './slots.ts';

export interface BrowserConfig {
  /** The Writ home. */
  readonly home: string;
  readonly bwrap_candidates: readonly string[];
  /** Where Chromium is looked for. */
  readonly chromium_candidates?: readonly string[];
  /** Contexts at a time. */
  readonly slots: number;
}

/** A Chromium in a sandbox of its own, driven over `transport`. */
export interface BrowserProcess {
  readonly transport: BrowserTransport;
  /** What stands between a page and this machine. `bubblewrap`: the browser's own sandbox could not be built inside it. */
  readonly sandbox: 'chromium in bubblewrap' | 'bubblewrap';
  /** `pid:[inode]`: everything of it is in there. */
  readonly pid_namespace: string;
  /** The way out for one more context; undefined when all are taken. */
  openSlot(guard: Guard): Slot | undefined;
  /** Resolves when it has ended, however, with what is known of why. */
  readonly ended: Promise<string>;
  /** Ends it, and says whether its whole tree was seen gone. Twice is once. */
  close(): Promise<TeardownReport>;
}

/** What it said last, for whoever asks why it ended. */
const MAX_LAST_WORDS = 8_192;
const START_MS = 20_000;
const PROFILE = '/tmp/profile';

/**
 * Starts a Chromium. AppError containment_unavailable when none is installed or none works here, with what to do about it. Only from the
 * main thread: a sandbox ends with the thread that made it.
 */
export async function startBrowser(
  config: BrowserConfig,
  parts: { readonly clock: Clock; readonly logger: Logger },
): Promise<BrowserProcess> {
  const chromium = findChromium(config.chromium_candidates);
  if (chromium === undefined) {
    throw new AppError('containment_unavailable', 'No Chromium is installed where it is looked for.', { fix: INSTALL_CHROMIUM });
  }
  const bwrap = findBwrap(config.bwrap_candidates);
  await sweepBrowsers(folderOf(config));
  const started = await start({ config, chromium, bwrap, inner: true, ...parts });
  if (typeof started !== 'string') return started;
  parts.logger.warn("the browser's own sandbox does not work here; it is tried without", { reason: started });
  const again = await start({ config, chromium, bwrap, inner: false, ...parts });
  if (typeof again !== 'string') return again;
  throw new AppError('containment_unavailable', `${chromium} can't be started in a sandbox here: ${again}.`, {
    fix: 'Run `writ doctor` for what this machine can contain.',
  });
}

const folderOf = ({ home }: BrowserConfig): string => join(home, 'browsers');

interface Attempt {
  readonly config: BrowserConfig;
  readonly chromium: string;
  readonly bwrap: string;
  readonly inner: boolean;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A string says why it isn't there; nothing of it is left then. */
async function start({ config, chromium, bwrap, inner, clock, logger }: Attempt): Promise<BrowserProcess | string> {
  const plan = browserPlan({ bwrap, chromium, inner, slots: config.slots });
  const supervisor = selfIdentity();
  const marker = randomBytes(16).toString('hex');
  const folder = folderOf(config);
  const record = writeBrowserRecord(folder, { marker, supervisor });
  const cgroups = createCgroups(supervisor, logger);
  const group = cgroups.group(plan.limits);
  const limitLines = ulimitLines(plan.limits, ownHardLimits(), group?.dimensions ?? {});
  const spawn = (): Sandbox => spawnSandbox({ plan, marker, streams: { kind: 'live' }, scratch: folder, limitLines });
  let sandbox: Sandbox;
  try {
    sandbox = group === undefined ? spawn() : group.spawnInside(spawn);
  } catch (thrown) {
    // A full disk, no descriptors left: nothing was started.
    record.remove();
    group?.release();
    await cgroups.close();
    throw thrown;
  }
  const { stdin, stdout, stderr } = sandbox.child;
  if (!stdin || !stdout || !stderr) throw new AppError('internal', 'A pipe to the browser is missing.');

  let words = '';
  stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MAX_LAST_WORDS);
  });
  /** It has said all it had to say: its end may be known before. */
  const heard = finished(stderr).catch(() => undefined);
  const tellEnd = Promise.withResolvers<string>();
  const kill = (): void => void sandbox.child.kill('SIGKILL');
  let misbehaved: string | undefined;
  const transport = createPipeTransport(stdout, stdin, (why) => {
    misbehaved = why;
    kill();
  });

  let built: BuiltSandbox | undefined;
  const letGo = async (): Promise<TeardownReport> => {
    kill();
    const teardown = built === undefined ? await endUnbuilt(sandbox) : await endTree(built, () => clock.monotonic());
    sandbox.release();
    group?.release();
    await cgroups.close();
    if (teardown.verified) record.remove();
    else logger.error('a browser could not be seen to have ended', { survivors: teardown.survivors });
    return teardown;
  };
  const giveUp = async (why: string): Promise<string> => {
    await letGo();
    const inlets = await sandbox.inlets;
    if (inlets) closeInlets(inlets);
    await heard;
    return `${why}${complaintIn(words)}`;
  };

  const waited = await awaitBuilt(sandbox);
  if (typeof waited === 'string') return giveUp(waited);
  built = waited;
  const inlets = await sandbox.inlets;
  if (inlets === undefined) return giveUp('its sockets could not be made');
  if (group?.needsAdoption === true) group.adopt(membersOf(built.pid_namespace) ?? []);
  const command = [chromium, ...chromiumFlags(PROFILE, inner)].map(quoted).join(' ');
  sandbox.open({ cwd: '/tmp', command: `exec ${command} 3<&0 4>&1 0</dev/null 1>/dev/null` });
  if (!(await awaitStarted(sandbox)) || !(await answers(transport))) return giveUp('it did not start');

  const slots = createSlots(inlets);
  let closing: Promise<TeardownReport> | undefined;
  const close = (): Promise<TeardownReport> => {
    closing ??= (async () => {
      transport.close();
      slots.close();
      return letGo();
    })();
    return closing;
  };
  sandbox.exit.then(async ({ code, signal }) => {
    await heard;
    tellEnd.resolve(`it ended (${misbehaved ?? signal ?? `exit ${code ?? 'unknown'}`})${complaintIn(words)}`);
    close().catch((thrown: unknown) => logger.error('a browser could not be ended', { reason: toAppError(thrown).message }));
  });
  return {
    transport,
    sandbox: inner ? 'chromium in bubblewrap' : 'bubblewrap',
    pid_namespace: built.pid_namespace,
    openSlot: slots.open,
    ended: tellEnd.promise,
    close,
  };
}

async function endUnbuilt(sandbox: Sandbox): Promise<TeardownReport> {
  await sandbox.exit;
  const { survivors } = await sweepMarked(new Set([sandbox.marker]));
  return { verified: survivors.length === 0, method: 'scan', survivors, ms: 0 };
}

/** The first answer shows that it runs: a browser without the sandbox that it wants ends before. */
function answers(transport: BrowserTransport): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(resolve, START_MS, false);
  transport.onmessage = () => resolve(true);
  transport.onclose = () => resolve(false);
  transport.send({ id: 1, method: 'Browser.getVersion' });
  return promise.finally(() => {
    clearTimeout(timer);
    delete transport.onmessage;
    delete transport.onclose;
  });
}

/** The line that says what was fatal; the rest is what a browser complains about everywhere. */
function complaintIn(words: string): string {
  const lines = words.split('\n').filter((line) => line.trim() !== '');
  const fatal = lines.find((line) => /FATAL|No usable sandbox|bwrap:|cannot execute|error while loading/.test(line)) ?? '';
  return fatal === '' ? '' : `: ${fatal.replace(/^\[[^\]]*\]\s*/, '').slice(0, 300)}`;
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
