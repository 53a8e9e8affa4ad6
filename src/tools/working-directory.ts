import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { WorkspaceBind } from '../execution/types.ts';
import { AppError, errnoOf } from '../kernel/errors.ts';
import { realpathAsFarAsItExists } from './facts.ts';

/** The real working directory of a call: inside a Workspace with every link resolved, existing, a folder. */
export function resolveCwd(asked: string | undefined, workspaces: readonly WorkspaceBind[]): string | AppError {
  const root = workspaces[0]?.path;
  if (root === undefined) return new AppError('workspace_unavailable', 'No Workspace is open.');
  if (asked === undefined) return root;
  if (asked.includes('\0')) return new AppError('invalid_arguments', 'cwd: contains a NUL character.');
  const path = realpathAsFarAsItExists(resolve(root, asked));
  if (path === undefined || !workspaces.some((workspace) => path === workspace.path || path.startsWith(`${workspace.path}/`))) {
    return new AppError(
      'invalid_arguments',
      `cwd: "${asked}" is outside the Workspace ${workspaces.map((workspace) => workspace.path).join(', ')}.`,
      {
        fix: 'Use a folder inside it. The user can open another one: with --root of `writ mcp`, or over HTTP as a workspace of the token.',
      },
    );
  }
  try {
    if (statSync(path).isDirectory()) return path;
    return new AppError('invalid_arguments', `cwd: "${asked}" is not a folder.`);
  } catch (thrown) {
    const code = errnoOf(thrown) ?? 'unknown fault';
    const absent = code === 'ENOENT' || code === 'ENOTDIR';
    return new AppError('invalid_arguments', `cwd: "${asked}" ${absent ? 'does not exist' : `can't be opened (${code})`}.`);
  }
}
