import type { Mount } from '../containment/mount.ts';

type Bind = Extract<Mount, { kind: 'bind' }>;

/** Fields of `--mount` are those of a CSV line. */
const field = (text: string): string => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function mountFlag({ source, dest, access }: Bind): string {
  const fields = ['type=bind', `source=${source}`, `destination=${dest}`, ...(access === 'read' ? ['readonly'] : [])];
  return `--mount=${fields.map(field).join(',')}`;
}

/**
 * Binds in their order. An engine takes each destination once, so that of equals the last counts, which lies on top. Devices, /proc and
 * /dev are the engine's.
 */
export function bindsOf(mounts: readonly Mount[]): readonly Bind[] {
  const binds = new Map<string, Bind>();
  for (const mount of mounts) {
    if (mount.kind !== 'bind') continue;
    binds.delete(mount.dest);
    binds.set(mount.dest, mount);
  }
  return [...binds.values()];
}

export function mountFlags(mounts: readonly Mount[]): readonly string[] {
  return bindsOf(mounts).map(mountFlag);
}
