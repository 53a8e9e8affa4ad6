/**
 * Folders that are never a workspace. The row with the longest matching path decides. `never`: neither it nor anything below;
 * `below`: not the folder itself (others keep things there), but folders below it are fine.
 */
interface Place {
  readonly path: string;
  readonly rule: 'never' | 'below';
  readonly why: string;
}

const SYSTEM = 'it belongs to the operating system';
const SHARED = 'it holds the folders of others too';

const PLACES: readonly Place[] = [
  ...[
    '/bin',
    '/boot',
    '/dev',
    '/etc',
    '/lib',
    '/lib32',
    '/lib64',
    '/libx32',
    '/lost+found',
    '/proc',
    '/run',
    '/sbin',
    '/sys',
    '/usr',
    '/var',
    '/snap',
    '/nix',
    '/System',
    '/Library',
    '/Applications',
    '/private',
  ].map((path): Place => ({ path, rule: 'never', why: SYSTEM })),
  // Where people do keep projects inside those.
  ...[
    '/usr/src',
    '/usr/local/src',
    '/var/www',
    '/var/tmp',
    '/var/opt',
    '/var/lib/jenkins/workspace',
    '/var/folders',
    '/private/tmp',
    '/private/var/folders',
  ].map((path): Place => ({ path, rule: 'below', why: SHARED })),
  ...['/home', '/Users', '/tmp', '/opt', '/srv', '/mnt', '/media', '/Volumes'].map((path): Place => ({ path, rule: 'below', why: SHARED })),
];

/** The same inside the home of the person, relative to it. */
const HOME_PLACES: readonly Place[] = [
  ...['.ssh', '.gnupg', '.aws', '.azure', '.kube', '.docker', '.password-store', '.config/gcloud', '.config/gh'].map(
    (path): Place => ({ path, rule: 'never', why: 'it holds credentials' }),
  ),
  ...['.config', '.local', '.local/share', '.cache'].map(
    (path): Place => ({ path, rule: 'below', why: 'it holds the settings of every program' }),
  ),
];

export interface Surroundings {
  /** Real path of the person's home, if there is one. */
  readonly user_home: string | undefined;
  /** Real path of the Writ home. */
  readonly writ_home: string;
}

/** Why this folder (a real path) can't be a workspace, as the end of a sentence; undefined: it can. */
export function unfitPlace(path: string, { user_home, writ_home }: Surroundings): string | undefined {
  if (path === '/') return 'it is the whole machine';
  if (path === user_home) return 'it is your whole home folder';
  if (holds(path, writ_home)) return `it holds the Writ home ${writ_home}`;
  if (holds(writ_home, path)) return `it lies in the Writ home ${writ_home}`;
  if (user_home !== undefined && holds(path, user_home)) return `it holds your home folder ${user_home}`;
  if (/^\/(?:home|Users)\/[^/]+$/.test(path) || path === '/root') return 'it is the whole home folder of a user';
  const inHome =
    user_home === undefined || user_home === '/' ? [] : HOME_PLACES.map((place) => ({ ...place, path: `${user_home}/${place.path}` }));
  // A home inside a system folder (a service user's) is still a home.
  const places =
    user_home === undefined || user_home === '/' ? PLACES : [...PLACES, { path: user_home, rule: 'below', why: '' } as const, ...inHome];
  const [nearest] = places.filter((place) => holds(place.path, path)).sort((a, b) => b.path.length - a.path.length);
  if (nearest === undefined || (nearest.rule === 'below' && nearest.path !== path)) return undefined;
  return nearest.why;
}

/** True when `inner` is `outer` or lies below it. Both clean and absolute. */
export function holds(outer: string, inner: string): boolean {
  return outer === inner || inner.startsWith(outer === '/' ? '/' : `${outer}/`);
}
