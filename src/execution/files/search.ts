import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import { findBwrap } from '../containment/bwrap.ts';
import { bwrapOptions } from '../containment/bwrap-options.ts';
import { within } from '../containment/mount.ts';
import { reaches } from '../containment/reach.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { Execution } from '../types.ts';
import type { FilePlace, FilesScene, FilesView, SearchEnd, SearchRun } from './types.ts';

const MAX_STDERR = 16 * 1024;
/** More at once only make each other slow. */
const MAX_AT_ONCE = 4;
const RG_INSIDE = '/.ripgrep';
/** Where a distribution puts it. */
const SYSTEM_RG = ['/usr/bin/rg', '/usr/local/bin/rg'] as const;

/**
 * ripgrep walks folders by their names, so a run that swaps a folder for a link at the right moment could lead it out of the
 * Workspace. So it runs in a sandbox that holds the searched place alone, read-only, with no network and no other process. Where
 * containment doesn't work there are no runs either that could swap anything, and it is started as it is.
 */
export function createSearcher(
  config: Pick<ExecutionConfig, 'bwrap_candidates'>,
  execution: Pick<Execution, 'probe'>,
): FilesView['search'] {
  let running = 0;
  return async (run, signal) => {
    if (running >= MAX_AT_ONCE) throw new AppError('busy', `${running} searches are running already.`);
    running += 1;
    try {
      const rg = findRipgrep();
      const contained = (await execution.probe()).ok;
      return await carryOut(contained ? inSandbox(rg, findBwrap(config.bwrap_candidates), run) : plainly(rg, run), run, signal);
    } finally {
      running -= 1;
    }
  };
}

/** The binary of the optional package for this machine, else the system's. */
function findRipgrep(): string {
  const names = [`@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`];
  const require = createRequire(import.meta.url);
  for (const name of names) {
    try {
      return require.resolve(name);
    } catch {
      // Not installed: optional packages are left out where they don't fit.
    }
  }
  const system = SYSTEM_RG.find((path) => existsSync(path));
  if (system !== undefined) return system;
  throw new AppError('not_found', 'ripgrep, which does the searching, is not installed.', {
    fix: 'Install Writ with its optional packages, or ripgrep itself: apt-get install ripgrep',
  });
}

interface Start {
  readonly program: string;
  readonly argv: readonly string[];
  readonly cwd: string;
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

function inSandbox(rg: string, bwrap: string, { scene, folder, args }: SearchRun): Start {
  const place = placeOf(scene, folder);
  // A file that an approval opened is searched in its folder, of which nothing else is there.
  const { uid, gid, inside } = scene.as;
  const map = inside.uid === uid && inside.gid === gid ? undefined : inside;
  // Where the program lies may be closed to the user it runs as (/root): then it is copied in.
  const reachable = reaches(rg, scene.as);
  const options = bwrapOptions({
    mounts: [
      ...(reachable ? [{ kind: 'bind', source: rg, dest: RG_INSIDE, access: 'read' } as const] : []),
      { kind: 'bind', source: place.host, dest: place.inside, access: 'read' },
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

function plainly(rg: string, { scene, folder, args }: SearchRun): Start {
  const place = placeOf(scene, folder);
  return { program: rg, argv: args, cwd: join(place.host, folder.slice(place.inside.length)) };
}

function carryOut({ program, argv, cwd, hand_on }: Start, run: SearchRun, signal: AbortSignal): Promise<SearchEnd> {
  const { as } = run.scene;
  const drop = as.drop ? { uid: as.uid, gid: as.gid } : {};
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const handed = hand_on === undefined ? undefined : openSync(hand_on, 'r');
    const child = spawn(program, argv, { cwd, env: { LANG: 'C.UTF-8' }, stdio: ['ignore', 'pipe', 'pipe', handed ?? 'ignore'], ...drop });
    const [, stdout, stderrStream] = child.stdio;
    if (handed !== undefined) closeSync(handed);
    let ended: SearchEnd['ended'] = 'by_itself';
    let stderr = '';
    const end = (why: SearchEnd['ended']): void => {
      if (ended === 'by_itself') ended = why;
      child.kill('SIGKILL');
    };
    const timer = setTimeout(() => end('timeout'), run.timeout_ms);
    const abort = (): void => void child.kill('SIGKILL');
    signal.addEventListener('abort', abort, { once: true });
    stdout?.on('data', (chunk: Buffer) => {
      if (ended === 'by_itself' && !run.onOutput(chunk)) end('enough');
    });
    stderrStream?.on('data', (chunk: Buffer) => {
      stderr = (stderr + chunk.toString('utf8')).slice(0, MAX_STDERR);
    });
    const settle = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    child.on('error', (error) => {
      settle();
      reject(new AppError('internal', `The search could not be started: ${error.message}`));
    });
    child.on('close', (code) => {
      settle();
      if (signal.aborted) reject(new AppError('cancelled', 'The search was cancelled.'));
      else if (stderr.startsWith('bwrap:') && ended === 'by_itself') {
        reject(
          new AppError('containment_unavailable', `The sandbox of ${basename(dirname(program))} could not be built: ${stderr.trim()}`),
        );
      } else resolve({ exit_code: ended === 'by_itself' ? code : null, stderr, ended });
    });
  });
}
