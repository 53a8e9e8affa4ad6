import { lstatSync, type Stats } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FilePlace, FilesScene } from '../../execution/types.ts';
import { linkTarget, realpathAsFarAsItExists } from '../facts.ts';

/** Where a path leads, seen as a run sees it. */
export type Resolved =
  /** `inside` has every link resolved, `host` is where that is on this machine. */
  | { readonly type: 'seen'; readonly inside: string; readonly host: string; readonly exists: boolean }
  /** A folder that is only there because something visible lies below it. */
  | { readonly type: 'above'; readonly inside: string }
  /** Outside of everything a run sees; `path` is its real place on the host. */
  | { readonly type: 'hidden'; readonly path: string }
  | { readonly type: 'broken'; readonly why: string };

/** As in the kernel. */
const MAX_HOPS = 40;

export function within(path: string, folder: string): boolean {
  return path === folder || folder === '/' || path.startsWith(`${folder}/`);
}

/** The path as the caller means it: relative to the first Workspace, `~` for HOME. Links and `..` are still in it. */
export function absolute(path: string, scene: FilesScene, root: string): string {
  if (path === '~' || path.startsWith('~/')) return `${scene.home}${path.slice(1)}`;
  return path.startsWith('/') ? path : `${root}/${path}`;
}

/**
 * Follows links and `..` component by component, each in the place a run would find it: a link in the Workspace to /tmp/x leads to
 * the private /tmp. What it finds may have changed a moment later, so whoever opens the result follows no link any more.
 */
export function resolvePath(scene: FilesScene, path: string): Resolved {
  const todo = path.split('/').filter((part) => part !== '' && part !== '.');
  let at = '';
  let hops = 0;
  const follow = (target: string): void => {
    if (target.startsWith('/')) at = '';
    todo.unshift(...target.split('/').filter((part) => part !== '' && part !== '.'));
  };
  for (let name = todo.shift(); name !== undefined; name = todo.shift()) {
    if (name === '..') {
      at = at === '' ? '' : dirname(at).replace(/^\/$/, '');
      continue;
    }
    const next = `${at}/${name}`;
    const link = scene.places.find((place) => place.kind === 'link' && place.inside === next);
    if (link?.kind === 'link') {
      follow(link.target);
      continue;
    }
    // A mount point is a folder for every run, whatever an earlier one left in its place.
    const mounted = scene.places.some((place) => place.inside === next) || leadsToPlace(scene, next);
    const host = hostOf(scene, next);
    if (host === undefined && !mounted) {
      return { type: 'hidden', path: realpathAsFarAsItExists([next, ...todo].join('/')) ?? next };
    }
    const stat = host === undefined || mounted ? undefined : look(host);
    if (stat?.isSymbolicLink() && host !== undefined) {
      if (++hops > MAX_HOPS) return { type: 'broken', why: 'its symbolic links go round in a circle' };
      const target = linkTarget(host);
      // Replaced since it was looked at: once more.
      if (target === undefined) todo.unshift(name);
      else follow(target);
    } else if (stat || mounted) {
      if (stat && !stat.isDirectory() && todo.length > 0) return { type: 'broken', why: `${next} is not a folder` };
      at = next;
    } else {
      if (todo.includes('..')) return { type: 'broken', why: `${next} does not exist` };
      return seen(scene, [next, ...todo].join('/'), false);
    }
  }
  return seen(scene, at === '' ? '/' : at, true);
}

function seen(scene: FilesScene, inside: string, exists: boolean): Resolved {
  const host = hostOf(scene, inside);
  const there = host !== undefined && look(host) !== undefined;
  if (host === undefined || (!there && leadsToPlace(scene, inside))) return { type: 'above', inside };
  return { type: 'seen', inside, host, exists: exists && there };
}

/** Where a real path of the scene is on the host, by the deepest place that holds it; an opening outranks what it lies in. */
function hostOf(scene: FilesScene, path: string): string | undefined {
  let found: Extract<FilePlace, { kind: 'bind' }> | undefined;
  for (const place of scene.places) {
    if (place.kind !== 'bind' || !within(path, place.inside)) continue;
    if (found === undefined || place.inside.length >= found.inside.length) found = place;
  }
  return found === undefined ? undefined : join(found.host, path.slice(found.inside.length));
}

function leadsToPlace(scene: FilesScene, path: string): boolean {
  return scene.places.some((place) => place.inside.startsWith(`${path}/`));
}

export function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    // A parent that is no folder or may not be entered: not there, as far as this user can tell.
    return undefined;
  }
}

/**
 * For policy: the real path, in the words of a run. What isn't in the private HOME but in the person's own is meant to be the latter,
 * which an approval can open.
 */
export function realPathIn(scene: FilesScene, path: string): string | undefined {
  const found = resolvePath(scene, path);
  if (found.type === 'broken') return undefined;
  if (found.type === 'hidden') return found.path;
  if (found.type === 'seen' && !found.exists && within(found.inside, scene.home) && found.host !== found.inside && look(found.inside)) {
    return realpathAsFarAsItExists(found.inside);
  }
  return found.inside;
}
