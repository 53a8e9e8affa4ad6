import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { createSearchBoxes, type MakeSearchBox } from '../container/search.ts';
import { findBwrap } from '../containment/bwrap.ts';
import { bwrapOptions } from '../containment/bwrap-options.ts';
import { within } from '../containment/mount.ts';
import { reaches } from '../containment/reach.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { ContainmentReport, Execution } from '../types.ts';
import { findRipgrep, INSTALL_RIPGREP } from './find-ripgrep.ts';
import type { FilePlace, FilesScene, FilesView, SearchEnd, SearchRun } from './types.ts';

const MAX_STDERR = 16 * 1024;
/** More at once only make each other slow. */
const MAX_AT_ONCE = 4;
const MAX_WAITING = 64;
const RG_INSIDE = '/.ripgrep';

/**
 * ripgrep walks folders by their names, so a run that swaps a folder for a link at the right moment could lead it out of the
 * Workspace. So it runs in a sandbox that holds the searched place alone, read-only, with no network and no other process. Where
 * containment doesn't work there are no runs either that could swap anything, and it is started as it is.
 */
export function createSearcher(
  config: Pick<ExecutionConfig, 'backend' | 'bwrap_candidates' | 'home' | 'host_env' | 'user_home' | 'container'>,
  execution: Pick<Execution, 'probe'>,
): FilesView['search'] {
  const slots = createSlots(MAX_AT_ONCE, MAX_WAITING);
  const inContainer = createSearchBoxes(config, RG_INSIDE);
  return async (run, signal) => {
    await slots.take(signal);
    try {
      const rg = findRipgrep();
      if (rg === undefined)
        throw new AppError('not_found', 'ripgrep, which does the searching, is not installed.', { fix: INSTALL_RIPGREP });
      const probe = await execution.probe();
      // Without containment there are no runs.
      const start = await START[probe.ok ? (config.backend ?? 'bubblewrap') : 'none'](rg, run, { config, inContainer });
      return await carryOut(start, run, signal);
    } finally {
      slots.give();
    }
  };
}

/** Whoever comes too many waits for its turn. */
function createSlots(most: number, mostWaiting: number): { take(signal: AbortSignal): Promise<void>; give(): void } {
  let taken = 0;
  const waiting: (() => void)[] = [];
  const give = (): void => {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  };
  return {
    async take(signal) {
      signal.throwIfAborted();
      if (taken < most) {
        taken += 1;
        return;
      }
      if (waiting.length >= mostWaiting) throw new AppError('busy', `${mostWaiting} searches are waiting already.`);
      // A slot is handed over, so that it is never free in between.
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (!signal.aborted) return;
      give();
      signal.throwIfAborted();
    },
    give,
  };
}

interface Start {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
  /** Default: next to nothing. */
  readonly env?: Readonly<Record<string, string>>;
  /** It runs as somebody else by itself. */
  readonly as_it_is?: true;
  remove?(): Promise<void>;
  /** A file that the program gets as descriptor 3. */
  readonly hand_on?: string;
}

/** The deepest place that holds a path. */
function placeOf(scene: FilesScene, path: string): Extract<FilePlace, { kind: 'bind' }> {
  const binds = scene.places.filter((place) => place.kind === 'bind').filter((place) => within(path, place.inside));
  const [deepest] = binds.toSorted((a, b) => b.inside.length - a.inside.length || Number(a.opened) - Number(b.opened));
  if (deepest === undefined) throw new AppError('internal', `${path} lies in no place that can be searched.`);
  return deepest;
}

function inSandbox(rg: string, bwrap: string, { scene, root, folder, args }: SearchRun): Start {
  const place = placeOf(scene, root);
  const { uid, gid, inside } = scene.as;
  const map = inside.uid === uid && inside.gid === gid ? undefined : inside;
  // Where the program lies may be closed to the user it runs as (/root): then it is copied in.
  const reachable = reaches(rg, scene.as);
  const options = bwrapOptions({
    mounts: [
      ...(reachable ? [{ kind: 'bind', source: rg, dest: RG_INSIDE, access: 'read' } as const] : []),
      { kind: 'bind', source: place.host, dest: place.inside, access: 'read' },
      // Of /proc it wants nothing but this, and sorts by time only where it is.
      { kind: 'symlink', target: RG_INSIDE, dest: '/proc/self/exe' },
    ],
    map,
    pty: false,
    nested_userns: false,
  });
  const copy = reachable ? [] : ['--perms', '0555', '--file', '3', RG_INSIDE];
  return {
    program: bwrap,
    argv: [...options, ...copy, '--chdir', folder, '--', RG_INSIDE, ...args],
    cwd: '/',
    ...(reachable ? {} : { hand_on: rg }),
  };
}

type Ways = { readonly config: Pick<ExecutionConfig, 'bwrap_candidates'>; readonly inContainer: MakeSearchBox };

/** In what contains runs here: they are what could change the tree under a search. */
const START: Readonly<Record<ContainmentReport['backend'], (rg: string, run: SearchRun, ways: Ways) => Start | Promise<Start>>> = {
  bubblewrap: (rg, run, { config }) => inSandbox(rg, findBwrap(config.bwrap_candidates), run),
  none: plainly,
  async container(rg, { scene, root, folder, args }, { inContainer }) {
    const box = await inContainer({ rg, place: placeOf(scene, root), as: scene.as, folder, args });
    return { ...box, cwd: '/', as_it_is: true };
  },
};

function plainly(rg: string, { scene, root, folder, args }: SearchRun): Start {
  const place = placeOf(scene, root);
  const host = join(place.host, root.slice(place.inside.length));
  return { program: rg, argv: args, cwd: folder === root ? host : dirname(host) };
}

async function carryOut(
  { program, argv, cwd, hand_on, env, as_it_is, remove }: Start,
  run: SearchRun,
  signal: AbortSignal,
): Promise<SearchEnd> {
  const { as } = run.scene;
  signal.throwIfAborted();
  const handed = hand_on === undefined ? undefined : openSync(hand_on, 'r');
  const child = spawn(program, argv, {
    cwd,
    env: env ?? { LANG: 'C.UTF-8' },
    stdio: ['ignore', 'pipe', 'pipe', handed ?? 'ignore'],
    ...(as.drop && !as_it_is ? { uid: as.uid, gid: as.gid } : {}),
  });
  if (handed !== undefined) closeSync(handed);
  const [, stdout, stderrStream] = child.stdio;
  let ended: SearchEnd['ended'] = 'by_itself';
  let stderr = '';
  stderrStream?.on('data', (chunk: Buffer) => {
    stderr = (stderr + chunk.toString('utf8')).slice(0, MAX_STDERR);
  });
  const closed = new Promise<number | null>((resolve, reject) => {
    child.on('error', (error) => reject(new AppError('internal', `The search could not be started: ${error.message}`)));
    child.on('close', resolve);
  });
  const stop = (): void => void child.kill('SIGKILL');
  const timer = setTimeout(() => {
    ended = 'timeout';
    stop();
  }, run.timeout_ms);
  signal.addEventListener('abort', stop, { once: true });
  try {
    // One piece after the other: what isn't taken yet waits in the pipe, and ripgrep with it.
    for await (const chunk of stdout ?? []) {
      if (await run.onOutput(chunk as Buffer)) continue;
      if (ended === 'by_itself') ended = 'enough';
      break;
    }
    if (ended === 'enough') stop();
    const code = await closed;
    if (signal.aborted) throw new AppError('cancelled', 'The search was cancelled.');
    if (ended === 'by_itself' && stderr.startsWith('bwrap:')) {
      throw new AppError('containment_unavailable', `The sandbox of the search could not be built: ${stderr.trim()}`);
    }
    return { exit_code: ended === 'by_itself' ? code : null, stderr, ended };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
    stop();
    closed.catch(() => {});
    await remove?.();
  }
}
