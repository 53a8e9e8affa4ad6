import { readlinkSync } from 'node:fs';
import { kindOf, realPath } from './look.ts';
import { type Mount, within } from './mount.ts';

/** The host's root is never bound whole: these folders, read-only, the table of etc-table.ts, and nothing else of it. */
const SYSTEM_FOLDERS = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt'] as const;

/** As on the host: a link into another of these folders (/bin -> usr/bin) stays a link. */
export function systemMounts(): readonly Mount[] {
  return SYSTEM_FOLDERS.flatMap((path): readonly Mount[] => {
    const kind = kindOf(path);
    if (kind === 'folder') return [{ kind: 'bind', source: path, dest: path, access: 'read' }];
    const real = kind === 'link' ? realPath(path) : undefined;
    if (real === undefined) return [];
    if (SYSTEM_FOLDERS.some((folder) => within(real, folder))) return [{ kind: 'symlink', target: readlinkSync(path), dest: path }];
    return [{ kind: 'bind', source: real, dest: path, access: 'read' }];
  });
}
