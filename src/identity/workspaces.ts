import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { WorkspaceBind } from '../execution/types.ts';
import type { ProcessFacts } from '../kernel/config/index.ts';
import { findGitRoot } from './git-root.ts';
import { holds, type Surroundings, unfitPlace } from './places.ts';

/** More is a mistake of the client and not a way to work. */
const MAX_WORKSPACES = 32;

export interface WorkspaceRequest {
  /** `--root`, in order. */
  readonly roots_flag: readonly string[];
  /** What the MCP client named: absolute paths or `file://` addresses. Only looked at without `--root`. */
  readonly client_roots: readonly string[];
  readonly facts: Pick<ProcessFacts, 'cwd' | 'uid' | 'user'>;
  /** Real path. */
  readonly writ_home: string;
}

export type ResolvedWorkspaces =
  | {
      readonly ok: true;
      /** Real paths, none inside another; the first is the primary one. */
      readonly workspaces: readonly WorkspaceBind[];
      readonly from: 'flag' | 'client' | 'git';
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly message: string; readonly fix: string };

/**
 * Where an agent may work: `--root`, else the client's roots, else the git root of the folder Writ was started in. A wrong
 * `--root` refuses all (the person meant something else); a wrong root of the client is left out as long as another one is right.
 */
export function resolveWorkspaces({ roots_flag, client_roots, facts, writ_home }: WorkspaceRequest): ResolvedWorkspaces {
  const around: Surroundings = { user_home: realOrUndefined(facts.user.home), writ_home };
  const judge = (given: string): Judged => judgeRoot(given, facts.cwd, around);
  if (roots_flag.length > 0) {
    const judged = roots_flag.map(judge);
    const [bad] = judged.filter((one) => !one.ok);
    if (bad !== undefined && !bad.ok)
      return { ok: false, message: `--root ${bad.shown} can't be a workspace: ${bad.why}.`, fix: fixLine(suggestion(facts, around)) };
    return chosen(judged, 'flag', []);
  }
  if (client_roots.length > 0) {
    const judged = client_roots.slice(0, MAX_WORKSPACES).map(judge);
    const warnings = judged.flatMap((one) => (one.ok ? [] : [`The client's root ${one.shown} is not used: ${one.why}.`]));
    if (judged.some((one) => one.ok)) return chosen(judged, 'client', warnings);
    return {
      ok: false,
      message: `None of the client's roots can be a workspace. ${warnings.join(' ')}`,
      fix: fixLine(suggestion(facts, around)),
    };
  }
  if (facts.cwd === undefined) {
    return { ok: false, message: 'The folder Writ was started in no longer exists, and no --root was given.', fix: fixLine(undefined) };
  }
  const cwd = realOrUndefined(facts.cwd) ?? facts.cwd;
  const root = findGitRoot(cwd, facts.uid);
  if (root === undefined) {
    const message = `No --root was given, the client named no roots, and ${cwd} is not in a git repository, so it is not clear where to work.`;
    return { ok: false, message, fix: fixLine(suggestion(facts, around)) };
  }
  const judged = judge(root);
  if (judged.ok) return chosen([judged], 'git', []);
  return {
    ok: false,
    message: `The git repository around ${cwd} is ${root}, which can't be a workspace: ${judged.why}.`,
    fix: fixLine(suggestion(facts, around)),
  };
}

/** Whether a folder can be registered as a workspace: the same rules as for `--root`. */
export function judgeWorkspace(path: string, facts: Pick<ProcessFacts, 'cwd' | 'user'>, writ_home: string): Judged {
  return judgeRoot(path, facts.cwd, { user_home: realOrUndefined(facts.user.home), writ_home });
}

type Judged = { readonly ok: true; readonly path: string } | { readonly ok: false; readonly shown: string; readonly why: string };

function judgeRoot(given: string, cwd: string | undefined, around: Surroundings): Judged {
  const shown = JSON.stringify(given.length > 200 ? `${given.slice(0, 200)}…` : given);
  const no = (why: string): Judged => ({ ok: false, shown, why });
  if (given === '' || given.includes('\0')) return no('it is no path');
  let path = given;
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given)) {
    try {
      path = fileURLToPath(given);
    } catch (thrown) {
      return no(`it is no local file:// address (${thrown instanceof Error ? thrown.message : String(thrown)})`);
    }
    if (path.includes('\0')) return no('it is no path');
  }
  if (!isAbsolute(path)) {
    if (path.startsWith('~')) return no('"~" is not expanded here; write the whole path');
    if (cwd === undefined) return no('it is relative to a folder that no longer exists');
    path = resolve(cwd, path);
  }
  try {
    const real = realpathSync(path);
    if (!statSync(real).isDirectory()) return no('it is not a folder');
    const why = unfitPlace(real, around);
    if (why !== undefined) return no(real === path ? why : `it is ${real}, and ${why}`);
    return { ok: true, path: real };
  } catch (thrown) {
    const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined;
    if (code === 'ENOENT') return no('it does not exist');
    if (code === 'EACCES') return no('this user may not open it');
    if (code === 'ELOOP') return no('its symbolic links go round in a circle');
    if (code === 'ENOTDIR') return no('a part of it is not a folder');
    return no(`it can't be opened (${String(code ?? thrown)})`);
  }
}

/** Equal ones once, inner ones merged into the outer one, which takes the earlier place. */
function chosen(judged: readonly Judged[], from: 'flag' | 'client' | 'git', warnings: readonly string[]): ResolvedWorkspaces {
  const paths = judged.flatMap((one) => (one.ok ? [one.path] : []));
  const outer = paths.map((path) => paths.reduce((widest, other) => (holds(other, widest) ? other : widest), path));
  const workspaces = [...new Set(outer)].map((path): WorkspaceBind => ({ path, access: 'write' }));
  if (workspaces.length > MAX_WORKSPACES) {
    return {
      ok: false,
      message: `${workspaces.length} workspaces were named; at most ${MAX_WORKSPACES} are possible.`,
      fix: 'Name a folder that holds several of them.',
    };
  }
  return { ok: true, workspaces, from, warnings };
}

/** The folder Writ was started in (or its git root), when it could be a workspace. */
function suggestion(facts: WorkspaceRequest['facts'], around: Surroundings): string | undefined {
  const cwd = realOrUndefined(facts.cwd);
  if (cwd === undefined) return undefined;
  const root = findGitRoot(cwd, facts.uid);
  return [root, cwd].find((path) => path !== undefined && unfitPlace(path, around) === undefined);
}

function fixLine(path: string | undefined): string {
  return `Name the folder in the MCP configuration: "args": ["mcp", "--root", ${JSON.stringify(path ?? '/path/to/your/project')}]`;
}

function realOrUndefined(path: string | undefined): string | undefined {
  if (path === undefined) return undefined;
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
