import { createHash } from 'node:crypto';
import { chownSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../../kernel/errors.ts';
import type { ExecutionConfig, ProbeMode } from '../../core-types.ts';
import { identify, judge } from '../../running/identity.ts';
import { privateFolders, SHARED_ROOT } from '../private-folders.ts';

/** Any ordinary account shows whether ordinary accounts may; nobody is on every machine. */
const NOBODY = 65534;

export interface Scratch {
  /** A small repository of the right owner, where that owner can reach it. */
  readonly workspace: string;
  /** A file in the Writ home that must not be seen from inside. */
  readonly bait: string;
  remove(): void;
}

/** Named by the home and the process that made it, so that another one can tell when it is nobody's any more. */
const NAME = /^probe-([0-9a-f]{8})-(\d+)-(\d+)-/;
const tagOf = (home: string): string => createHash('sha256').update(home).digest('hex').slice(0, 8);

/** What one probe leaves in the Writ home while it goes on; there is one such set for each running probe. */
export function makeScratch(config: ExecutionConfig, mode: ProbeMode): Scratch {
  const parent = parentOf(config, mode);
  mkdirSync(parent, { recursive: true, mode: mode === 'dropped' ? 0o711 : 0o700 });
  if (lstatSync(parent).isSymbolicLink()) throw new AppError('containment_unavailable', `${parent} is a link.`);
  const workspace = mkdtempSync(join(parent, `probe-${tagOf(config.home)}-${process.pid}-${identify(process.pid)?.start ?? 0}-`));
  mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true });
  if (mode === 'dropped') for (const path of ['.git/hooks', '.git', '.']) chownSync(join(workspace, path), NOBODY, NOBODY);
  const bait = baitOf(config, workspace);
  writeFileSync(bait, '', { mode: 0o600 });
  return { workspace, bait, remove: () => removeScratch(config, mode, workspace) };
}

/** Removes what probes left whose processes are gone. Safe in several processes at once. */
export function sweepProbes(config: Pick<ExecutionConfig, 'home' | 'shared_root'>, boot_id: string): void {
  for (const mode of ['self', 'dropped'] as const) {
    for (const name of namesIn(parentOf(config, mode))) {
      const [, tag, pid, start] = NAME.exec(name) ?? [];
      if (tag !== tagOf(config.home) || pid === undefined || start === undefined) continue;
      const verdict = judge({ boot_id, pid: Number(pid), start });
      if (verdict !== 'GONE' && verdict !== 'FOREIGN') continue;
      removeScratch(config, mode, join(parentOf(config, mode), name.replace(/\.bait$/, '')));
    }
  }
}

function removeScratch(config: Pick<ExecutionConfig, 'home' | 'shared_root'>, mode: ProbeMode, workspace: string): void {
  // The folders that the planner has made for this Workspace.
  const own = dirname(privateFolders(config, workspace, { uid: NOBODY, drop: mode === 'dropped' }).home);
  for (const path of [own, workspace, baitOf(config, workspace)]) rmSync(path, { recursive: true, force: true });
}

/** The Writ home can't be walked by another uid; the run's own private folders are looked up the same way, see private-folders.ts. */
function parentOf({ home, shared_root }: Pick<ExecutionConfig, 'home' | 'shared_root'>, mode: ProbeMode): string {
  return mode === 'dropped' ? (shared_root ?? SHARED_ROOT) : home;
}

function baitOf({ home }: Pick<ExecutionConfig, 'home'>, workspace: string): string {
  return join(home, `${workspace.slice(workspace.lastIndexOf('/') + 1)}.bait`);
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // Not there, or not ours to look into: then nothing of ours is in it.
    return [];
  }
}
