import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError } from '../../kernel/errors.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { WorkspaceBind } from '../types.ts';
import { kindOf, realPath } from './look.ts';
import { within } from './mount.ts';
import { SHARED_ROOT } from './private-folders.ts';

type Places = Pick<ExecutionConfig, 'home' | 'shared_root'>;

/**
 * Where programs lie that were installed for this Writ home, and are being installed. It is the one part of Writ's own that a program may
 * see, and each sees its own folder of it. Root's programs often run as another user, who can't pass the Writ home.
 */
export function installationsFolder({ home, shared_root = SHARED_ROOT }: Places): string {
  if (process.getuid?.() !== 0) return join(home, 'packages');
  return join(shared_root, 'packages', createHash('sha256').update(home).digest('hex').slice(0, 24));
}

/** The same, made if missing. */
export function makeInstallationsFolder(places: Places): string {
  const folder = installationsFolder(places);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  if (process.getuid?.() !== 0) return folder;
  // Others pass and can't list; mkdir's mode is cut by the umask.
  for (const one of [dirname(dirname(folder)), dirname(folder), folder]) chmodSync(one, 0o711);
  return folder;
}

/** A folder in there, by its real path. */
export function checkInstallation(asked: WorkspaceBind | undefined, places: Places): void {
  if (asked === undefined) return;
  const { path } = asked;
  const folder = installationsFolder(places);
  if (path !== folder && within(path, folder) && realPath(path) === path && kindOf(path) === 'folder') return;
  throw new AppError('not_found', `${path} is no folder of an installed program.`, { fix: 'Install it again.' });
}
