import { within } from './mount.ts';

/** Never a Workspace and never opened: the kernel's own file systems. */
const KERNEL_FOLDERS = ['/proc', '/sys', '/dev'] as const;
/** Never a Workspace, nor anything in it: the system's programs, settings and sockets. */
const SYSTEM_TREES = [
  ...KERNEL_FOLDERS,
  '/bin',
  '/sbin',
  '/lib',
  '/lib32',
  '/lib64',
  '/libx32',
  '/etc',
  '/boot',
  '/run',
  '/usr/bin',
  '/usr/sbin',
  '/usr/lib',
  '/usr/lib32',
  '/usr/lib64',
  '/usr/libexec',
  '/usr/share',
  '/usr/include',
] as const;
/** Never a Workspace as they are; a folder inside may be one. */
const SYSTEM_FOLDERS = [
  '/',
  '/usr',
  '/usr/local',
  '/usr/src',
  '/opt',
  '/var',
  '/var/lib',
  '/var/tmp',
  '/tmp',
  '/home',
  '/srv',
  '/mnt',
  '/media',
] as const;

export interface Persons {
  /** The Writ home. */
  readonly writ_home: string;
  readonly user_home: string;
}

/** Why a folder can't be a Workspace, in words that follow "<path> can't be a workspace: "; undefined: it can. */
export function workspaceRefusal(path: string, { writ_home, user_home }: Persons): string | undefined {
  if (within(writ_home, path)) return 'it holds the Writ home';
  if (within(path, writ_home)) return 'it lies inside the Writ home';
  if (path === user_home) return 'it is your home folder; use a folder inside';
  if (within(user_home, path)) return 'it holds your home folder';
  if (SYSTEM_FOLDERS.some((folder) => path === folder) || SYSTEM_TREES.some((folder) => within(path, folder))) {
    return 'it belongs to the system';
  }
  return undefined;
}

/** The same for a path that an approval opens: single files of the system and of the home may be opened, wholes may not. */
export function openingRefusal(path: string, { writ_home, user_home }: Persons): string | undefined {
  if (path === '/' || KERNEL_FOLDERS.some((folder) => within(path, folder))) return 'it belongs to the kernel or is the whole system';
  if (within(user_home, path)) return 'it is or holds your whole home folder';
  if (within(writ_home, path) || within(path, writ_home)) return 'it is the Writ home, or holds or lies in it';
  return undefined;
}

/** Where HOME is inside: the person's own path, so that `~` looks the same; a stand-in when that can't be a mount point. */
export function homeInside(user_home: string, user_name: string): string {
  const unusable =
    !user_home.startsWith('/') ||
    SYSTEM_FOLDERS.some((folder) => folder === user_home) ||
    SYSTEM_TREES.some((folder) => within(user_home, folder)) ||
    within(user_home, '/usr') ||
    within(user_home, '/opt');
  return unusable ? `/home/${user_name}` : user_home;
}
