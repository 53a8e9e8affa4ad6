import { AppError } from '../../kernel/errors.ts';
import type { RunSpec, WorkspaceBind } from '../types.ts';
import { openingRefusal, type Persons, workspaceRefusal } from './forbidden.ts';
import { kindOf, realPath } from './look.ts';
import type { Looks } from './looks.ts';
import { type Mount, within } from './mount.ts';
import { reaches } from './reach.ts';
import type { RunAs } from './run-as.ts';
import type { Toolchains } from './toolchains.ts';

/** The rules of a Workspace, in the words of who declares roots. */
export function checkRoots(roots: readonly WorkspaceBind[], persons: Persons): void {
  for (const { path } of roots) {
    const found = realPath(path);
    const why =
      found === undefined || kindOf(found) !== 'folder'
        ? 'it is not a folder'
        : found === path
          ? workspaceRefusal(path, persons)
          : `it is a link to ${found}, and only real paths are roots`;
    if (why === undefined) continue;
    throw new AppError('invalid_arguments', `${path} can't be a root: ${why}.`, { fix: 'Correct or remove it in its `roots`.' });
  }
}

/** A program that would not be there is said before anything starts, and not by an exit code. */
export function checkPrograms({ refused, notes }: Pick<Toolchains, 'refused' | 'notes'>): void {
  for (const [program, why] of refused) {
    throw new AppError('not_found', `${program} can't be in the sandbox: ${why}.`, {
      fix: 'Put it where it can be shown to the sandbox (a folder of its own, below the home or in /opt), or declare its folder as a root.',
      data: { left_out: notes },
    });
  }
}

/** `/var/run` is a link inside, as on the host. */
const insideName = (path: string): string => path.replace(/^\/var\/run\//, '/run/');

/** The sockets that were declared, each where programs look for it. */
export function socketMounts(
  sockets: readonly string[],
  persons: Persons,
  as: RunAs,
  looks: Looks,
): readonly Extract<Mount, { kind: 'bind' }>[] {
  return sockets.map((path) => {
    const refuse = (why: string): never => {
      throw new AppError('invalid_arguments', `The socket ${path} can't be opened: ${why}.`, {
        fix: 'Correct or remove it where `unix_sockets` names it.',
      });
    };
    const source = path.startsWith('/') ? looks.realPath(path) : undefined;
    if (source === undefined) return refuse('it does not exist');
    if (looks.look(source)?.isSocket() !== true) return refuse('it is not a socket');
    const why = openingRefusal(source, persons) ?? openingRefusal(path, persons);
    if (why !== undefined) return refuse(why);
    if (!reaches(source, as, looks)) return refuse(`uid ${as.uid}, which the program has, can't reach it`);
    return { kind: 'bind', source, dest: insideName(path), access: 'read' };
  });
}

/** Where a program that stays starts: in one of its folders, in what was bound of its package, or in its private HOME (''). */
export function channelCwd(
  { cwd, workspaces }: Pick<RunSpec, 'cwd' | 'workspaces'>,
  ground: { readonly home: string; readonly toolchains: Pick<Toolchains, 'mounts'>; readonly installation?: Mount },
): string {
  const { home, toolchains, installation } = ground;
  if (cwd === '' || cwd === home || cwd === '/tmp') return cwd === '' ? (workspaces[0]?.path ?? home) : cwd;
  const found = realPath(cwd);
  const bound = [...toolchains.mounts, ...(installation === undefined ? [] : [installation])];
  const seen = [...workspaces.map(({ path }) => path), ...bound.map(({ dest }) => dest)];
  if (found !== undefined && kindOf(found) === 'folder' && seen.some((folder) => within(found, folder))) return found;
  throw new AppError(
    'invalid_arguments',
    `The folder ${cwd} ${found === undefined ? 'does not exist' : 'is not among the folders it may see'}.`,
    {
      fix: `Declare it as a root, or leave it out: it then starts in ${workspaces[0]?.path ?? 'a private home of its own'}.`,
    },
  );
}
