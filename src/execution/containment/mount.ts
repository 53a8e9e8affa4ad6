/** One step of building the sandbox's file system, in the order in which bubblewrap carries it out. */
export type Mount =
  /** `optional`: a source that vanished since planning is left out in place of failing the run. */
  | {
      readonly kind: 'bind';
      readonly source: string;
      readonly dest: string;
      readonly access: 'read' | 'write';
      readonly optional?: boolean;
    }
  | { readonly kind: 'symlink'; readonly target: string; readonly dest: string }
  | { readonly kind: 'tmpfs'; readonly dest: string; readonly mode: string; readonly size: number }
  | { readonly kind: 'dir' | 'proc' | 'dev' | 'remount_ro'; readonly dest: string };

/** The mount as bubblewrap options. */
export function mountOptions(mount: Mount): readonly string[] {
  switch (mount.kind) {
    case 'bind':
      return [`--${mount.access === 'read' ? 'ro-' : ''}bind${mount.optional ? '-try' : ''}`, mount.source, mount.dest];
    case 'symlink':
      return ['--symlink', mount.target, mount.dest];
    case 'tmpfs':
      return ['--perms', mount.mode, '--size', String(mount.size), '--tmpfs', mount.dest];
    case 'remount_ro':
      return ['--remount-ro', mount.dest];
    default:
      return [`--${mount.kind}`, mount.dest];
  }
}

/** True when `path` is `folder` or lies below it. Both absolute and clean. */
export function within(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** Parents before children, so that no mount hides one that came before it. Equal destinations keep their order. */
export function parentsFirst(mounts: readonly Mount[]): readonly Mount[] {
  const depth = (mount: Mount): number => mount.dest.split('/').length;
  return mounts.toSorted((a, b) => depth(a) - depth(b));
}
