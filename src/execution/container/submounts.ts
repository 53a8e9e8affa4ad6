import { readFileSync } from 'node:fs';
import { type Mount, within } from '../containment/mount.ts';

interface Seen {
  readonly path: string;
  readonly writable: boolean;
}

/** Mounts as a process has them, from the text of its mountinfo. */
export function parseMounts(mountinfo: string): readonly Seen[] {
  return mountinfo.split('\n').flatMap((line) => {
    const [, , , , path, options] = line.split(' ');
    if (path === undefined || options === undefined) return [];
    return [{ path: unescapeField(path), writable: options.split(',').includes('rw') }];
  });
}

const unescapeField = (field: string): string =>
  field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));

/**
 * An engine makes what it binds read-only, and not what is mounted below it. Each such mount of the host becomes a bind of its own,
 * which comes after the one that it lies in.
 */
export function withSubmounts(mounts: readonly Mount[], mountinfo: string): readonly Mount[] {
  const host = parseMounts(mountinfo).map(({ path }) => path);
  return mounts.flatMap((mount): readonly Mount[] => {
    if (mount.kind !== 'bind' || mount.access !== 'read') return [mount];
    const below = host.filter((path) => path !== mount.source && within(path, mount.source));
    const own = [...new Set(below)].map(
      (source): Mount => ({ kind: 'bind', source, dest: mount.dest + source.slice(mount.source.length), access: 'read' }),
    );
    return [mount, ...own];
  });
}

/** Looks into a container at its gate: what is writable where the plan says read-only. Undefined: nothing. */
export function writableByMistake(
  binds: readonly { readonly dest: string; readonly access: 'read' | 'write' }[],
  init: number,
): string | undefined {
  let mounts: readonly Seen[];
  try {
    mounts = parseMounts(readFileSync(`/proc/${init}/mountinfo`, 'utf8'));
  } catch {
    return 'the mounts of the container can not be read';
  }
  // Of several at one place the last lies on top.
  const onTop = new Map(mounts.map(({ path, writable }) => [path, writable]));
  for (const [path, writable] of onTop) {
    if (!writable) continue;
    const [deepest] = binds.filter(({ dest }) => within(path, dest)).toSorted((a, b) => b.dest.length - a.dest.length);
    if (path === '/' || deepest?.access === 'read') return `${path} can be written in the container, where it should be read-only`;
  }
  return undefined;
}
