import { realpathSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join, normalize, resolve } from 'node:path';
import { judgeWorkspace } from '../../identity/index.ts';
import type { ConfigNote, ProcessFacts } from '../../kernel/config/index.ts';
import { quotedPath } from '../../kernel/config/parse.ts';
import type { ServerEntry } from '../../kernel/config/server-entry.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import type { UpstreamSettings } from '../types.ts';
import type { Note } from './note.ts';

/** Where paths of an entry are meant from, and what it is read with. */
export interface Places {
  /** Tells what looks like a secret; absent: nothing is said about that. */
  readonly redactor?: Pick<Redactor, 'find'>;
  /** Real path. */
  readonly writ_home: string;
  readonly user: ProcessFacts['user'];
  /** Real path of the project whose file it is; absent: the operator's. */
  readonly project?: string;
}

type Root = UpstreamSettings['roots'][number];

/** Folders a server may see. The rules are those of a Workspace: never a home as a whole, a system folder, or what holds the Writ home. */
export function readRoots(
  given: NonNullable<ServerEntry['roots']>,
  places: Places,
  note: Note,
  problems: ConfigNote[],
  warnings: ConfigNote[],
): readonly Root[] {
  const roots = given.flatMap((one, index): readonly Root[] => {
    const { path, access = 'read' } = typeof one === 'string' ? { path: one } : one;
    const meant = meantPath(path, places);
    if (meant === undefined) {
      problems.push(note(['roots', index], 'must be an absolute path, or begin with ~/'));
      return [];
    }
    const judged = judgeWorkspace(meant, { cwd: undefined, user: places.user }, places.writ_home);
    if (!judged.ok) {
      problems.push(
        note(
          ['roots', index],
          `can't be ${judged.shown}: ${judged.why}`,
          'Name a folder that exists and holds only what the server needs.',
        ),
      );
      return [];
    }
    if (!isOwn(judged.path, places)) {
      warnings.push(note(['roots', index], `is ignored: ${quotedPath(judged.path)} is outside of the project`, OPERATOR));
      return [];
    }
    return [{ path: judged.path, access }];
  });
  // The same folder twice: what was said to be writable is.
  const paths = [...new Set(roots.map(({ path }) => path))];
  return paths.map((path) => ({ path, access: roots.some((one) => one.path === path && one.access === 'write') ? 'write' : 'read' }));
}

/** Folders below which files may be read that a result refers to. They need not exist yet; that they are fit is seen once more when a file is read. */
export function readArtifactRoots(
  given: readonly string[],
  places: Places,
  note: Note,
  problems: ConfigNote[],
  warnings: ConfigNote[],
): readonly string[] {
  const roots = given.flatMap((path, index): readonly string[] => {
    const key = ['artifact_roots', index];
    if (path.trim() === '') {
      warnings.push(note(key, 'is empty; it is ignored'));
      return [];
    }
    const meant = path.includes('\0') ? undefined : meantPath(path, places);
    if (meant === undefined) {
      problems.push(note(key, 'must be an absolute path, or begin with ~/'));
      return [];
    }
    const judged = judgeWorkspace(realOf(meant) ?? meant, { cwd: undefined, user: places.user }, places.writ_home);
    if (!judged.ok && judged.why !== 'it does not exist') {
      problems.push(note(key, `can't be ${judged.shown}: ${judged.why}`));
      return [];
    }
    if (!isOwn(realOf(meant) ?? meant, places)) {
      warnings.push(note(key, `is ignored: ${quotedPath(meant)} is outside of the project`, OPERATOR));
      return [];
    }
    return [meant];
  });
  return [...new Set(roots)];
}

/**
 * A folder among the arguments or variables is mostly one that the program is to work in, and a file that a variable names one that it reads or
 * keeps; without a root they aren't there for it, and an empty place looks like one where nothing was kept yet.
 */
export function warnOfUnseen(
  { args, env }: { readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> },
  roots: readonly Root[],
  places: Places,
  note: Note,
  warnings: ConfigNote[],
): void {
  const seen = (real: string): boolean => roots.some(({ path }) => real === path || real.startsWith(`${path}/`));
  const warn = (key: readonly (string | number)[], what: string, folder: string, fix: string): void => {
    if (!seen(folder)) warnings.push(note(key, `names the ${what}, which the server can't see`, fix));
  };
  const words = [
    ...args.map((arg, index) => [['args', index], arg] as const),
    ...Object.entries(env).map(([name, value]) => [['env', name], value] as const),
  ];
  for (const [key, word] of words) {
    if (!isAbsolute(word)) continue;
    const real = realOf(word);
    if (real !== undefined && isFolder(real)) warn(key, `folder ${quotedPath(real)}`, real, `Add it: "roots": [${JSON.stringify(real)}].`);
    else if (key[0] === 'env') {
      const folder = realOf(dirname(real ?? word));
      // What may be no root is a folder of the system, which it sees or not whatever is said here, or the home, of which it never sees all.
      if (folder === undefined || !isFolder(folder)) continue;
      const home = folder === places.user.home;
      if (!home && !judgeWorkspace(folder, { cwd: undefined, user: places.user }, places.writ_home).ok) continue;
      const root = JSON.stringify({ path: folder, access: 'write' });
      const fix = home
        ? 'Keep it in a folder of its own, and add that to "roots".'
        : `Add its folder: "roots": [${root}], or without "access" to read only.`;
      warn(key, `file ${quotedPath(word)}`, folder, fix);
    }
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

const OPERATOR = 'Configure the server in the operator configuration if it needs that.';

function meantPath(path: string, { user, project }: Places): string | undefined {
  if (path.startsWith('~/') && user.home !== undefined) return withoutSlash(join(user.home, path.slice(2)));
  if (isAbsolute(path)) return withoutSlash(normalize(path));
  return project === undefined || path.startsWith('~') ? undefined : resolve(project, path);
}

function withoutSlash(path: string): string {
  return path.length > 1 ? path.replace(/\/+$/, '') : path;
}

/** Operators name what they like; a project only what is in it. */
export function isOwn(path: string, { project }: Places): boolean {
  return project === undefined || path === project || path.startsWith(`${project}/`);
}

function realOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
