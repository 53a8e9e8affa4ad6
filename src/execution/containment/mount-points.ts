import { join } from 'node:path';
import { moveAside, withFolder } from './folder-handle.ts';
import { kindOf } from './look.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { type Mount, within } from './mount.ts';
import type { PrivateFolders } from './private-folders.ts';
import type { RunAs } from './run-as.ts';

type Bind = Extract<Mount, { kind: 'bind' }>;

/**
 * Makes the folders that Workspaces and tool chains below HOME or /tmp are mounted on, and pins those above them.
 *
 * The private folders belong to the run, so an earlier one may have left a link where a mount point goes, in the hope that
 * bubblewrap follows it. Whatever isn't a plain folder is moved aside first; while a run is up its mount points can't be
 * renamed, and `checkMounts` looks once more before anything runs.
 */
export function prepareMountPoints(
  mounts: readonly Mount[],
  inside: { readonly home: string; readonly folders: PrivateFolders },
  as: RunAs,
  looks: Looks = PLAIN_LOOKS,
): readonly Bind[] {
  const pins = new Map<string, Bind>();
  const places = [
    { dest: inside.home, source: inside.folders.home },
    { dest: '/tmp', source: inside.folders.tmp },
  ];
  const binds = mounts.filter((mount): mount is Bind => mount.kind === 'bind');
  for (const mount of binds) {
    const place = places.find(({ dest }) => mount.dest !== dest && within(mount.dest, dest));
    // What lies below another mount of ours is that one's content, and exists there.
    const covered = binds.some((other) => other.dest !== mount.dest && other.dest !== inside.home && within(mount.dest, other.dest));
    if (!place || covered) continue;
    const parts = mount.dest.slice(place.dest.length + 1).split('/');
    const isFolder = looks.kindOf(mount.source) === 'folder';
    const name = parts.at(-1) ?? '';
    const options = { make: true, give_to: as.drop ? as : undefined };
    withFolder(place.source, isFolder ? parts : parts.slice(0, -1), options, (folder) => {
      const kind = isFolder ? 'folder' : kindOf(`${folder}/${name}`);
      if (kind !== 'folder' && kind !== 'file' && kind !== 'absent') moveAside(`${folder}/${name}`);
    });
    for (let count = 1; count <= parts.length; count++) {
      const below = parts.slice(0, count).join('/');
      looks.look(join(place.source, below));
      if (count === parts.length) break;
      const dest = join(place.dest, below);
      pins.set(dest, { kind: 'bind', source: join(place.source, below), dest, access: 'write' });
    }
  }
  return [...pins.values()];
}
