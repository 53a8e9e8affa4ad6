/** One mounted hierarchy of control groups and where this process stands in it. */
export interface Hierarchy {
  readonly version: 1 | 2;
  /** Of interest to us and available here; version 2 says only in its files which ones it has. */
  readonly controllers: readonly string[];
  readonly mount: string;
  /** Folder of our own group; below `mount`. */
  readonly own: string;
}

/**
 * Pure version 2 is one hierarchy for all controllers; version 1 and hybrid hosts have one (or one shared) per controller. Texts are
 * those of /proc/self/mountinfo and /proc/self/cgroup.
 */
export function detectHierarchies(mountinfo: string, selfCgroup: string): Hierarchy[] {
  const ours = new Map<string, string>();
  for (const line of selfCgroup.split('\n')) {
    const [, controllers, ...path] = line.split(':');
    if (controllers === undefined || path.length === 0) continue;
    for (const controller of controllers.split(',')) ours.set(controller, path.join(':'));
  }
  const found: Hierarchy[] = [];
  for (const line of mountinfo.split('\n')) {
    const [before, after] = line.split(' - ');
    const [, , , root, mount] = before?.split(' ').map(unescapeField) ?? [];
    const [type, , options] = after?.split(' ') ?? [];
    if (root === undefined || mount === undefined || (type !== 'cgroup' && type !== 'cgroup2')) continue;
    const controllers = type === 'cgroup2' ? [''] : (options ?? '').split(',').filter((name) => WANTED.includes(name));
    const path = ours.get(controllers[0] ?? '-');
    const own = path === undefined ? undefined : below(mount, root, path);
    if (own === undefined) continue;
    found.push({ version: type === 'cgroup2' ? 2 : 1, controllers: type === 'cgroup2' ? WANTED : controllers, mount, own });
  }
  return found;
}

const WANTED: readonly string[] = ['memory', 'pids', 'cpu'];

/** A container may have only a part of the hierarchy mounted; a group outside of that part can't be reached by path. */
function below(mount: string, root: string, path: string): string | undefined {
  if (path.split('/').includes('..')) return undefined;
  if (root === '/') return path === '/' ? mount : `${mount}${path}`;
  if (path === root) return mount;
  return path.startsWith(`${root}/`) ? `${mount}${path.slice(root.length)}` : undefined;
}

function unescapeField(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}

/** Where a group of ours may be made: beside or below our own group, nearest first. */
export function candidates(hierarchy: Hierarchy): string[] {
  const found: string[] = [];
  for (let folder = hierarchy.own; folder.startsWith(hierarchy.mount); folder = folder.slice(0, folder.lastIndexOf('/')))
    found.push(folder);
  return found;
}
