import type { FilesScene, FilesView, WorkspaceBind } from '../../execution/types.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Assessment, Decision, Facts, PathUse } from '../../policy/types.ts';
import { realpathAsFarAsItExists } from '../facts.ts';
import type { CallContext } from '../tool.ts';
import { diskError, fileError, Moved } from './file-error.ts';
import { absolute, look, realPathIn, resolvePath, within } from './resolve.ts';

/** How policy judges what a file tool touches. */
export type AssessFiles = (
  tool: string,
  uses: readonly PathUse[],
  around: { readonly cwd: string; readonly facts: Facts },
  context: CallContext,
) => Assessment | Promise<Assessment>;

/** A path of a call, found, allowed by what containment and the decision open, and not yet opened. */
export interface Found {
  /** As a run sees it, links resolved: what answers call it. */
  readonly path: string;
  readonly host: string;
  readonly exists: boolean;
  readonly folder: boolean;
  /** By a yes for exactly this path: nothing else may be made on the way to it. */
  readonly opened: boolean;
  readonly scene: FilesScene;
}

/** More is no path of this system. */
const MAX_PATH = 4096;
const MAX_TRIES = 4;

export interface FileAccess {
  assess(tool: string, uses: readonly PathUse[], context: CallContext): Promise<Assessment | AppError>;
  /**
   * Finds the path anew, sees that what was decided still holds for what is there now, and calls `use`, again when the way to it changed
   * in between. Links that are swapped all the time end in an error, never in another file.
   */
  reach<T>(
    tool: string,
    uses: readonly PathUse[],
    request: { readonly path: string; readonly access: 'read' | 'write' },
    context: CallContext,
    decision: Decision,
    use: (found: Found) => T | Promise<T>,
  ): Promise<T>;
  /** Whether a file that a search came upon, by its real path, would have been asked for; one that a yes opened wouldn't. */
  isSecret(path: string, scene: FilesScene, context: CallContext): Promise<boolean>;
}

const isFolder = (host: string): boolean => look(host)?.isDirectory() ?? false;

export function createFileAccess(view: () => Promise<FilesView>, assessFiles: AssessFiles): FileAccess {
  const judge = async (tool: string, uses: readonly PathUse[], scene: FilesScene, context: CallContext): Promise<Assessment> => {
    const root = rootOf(context.workspaces);
    const facts: Facts = { realpath: (path) => realPathIn(scene, path), which: () => undefined };
    const meant = uses.map(({ access, path }): PathUse => ({ access, path: absolute(path, scene, root) }));
    return assessFiles(tool, meant, { cwd: root, facts }, context);
  };

  return {
    assess: async (tool, uses, context) => {
      for (const use of uses) {
        const problem = problemOf(use);
        if (problem !== undefined) return fileError('bad_args', problem);
      }
      if (context.workspaces.length === 0) return new AppError('workspace_unavailable', 'No Workspace is open.');
      const scene = (await view()).scene(context.workspaces, []);
      return judge(tool, uses, scene, context);
    },

    isSecret: async (path, scene, context) => {
      if (scene.places.some((place) => place.kind === 'bind' && place.opened && within(path, place.inside))) return false;
      // Come upon below a real folder without following links, so that its path is real.
      const facts: Facts = { realpath: (one) => one, which: () => undefined };
      const { effects } = await assessFiles(
        'search_files',
        [{ access: 'read', path }],
        { cwd: rootOf(context.workspaces), facts },
        context,
      );
      return effects.includes('credential_access');
    },

    reach: async (tool, uses, { path, access }, context, decision, use) => {
      if (process.platform !== 'linux') throw fileError('permission', 'The file tools of this version need Linux.');
      const openings = decision.opens.flatMap((opening) => (opening.type === 'path' ? [opening] : []));
      for (let attempt = 1; ; attempt++) {
        const scene = (await view()).scene(context.workspaces, openings);
        const closed = { ...scene, places: scene.places.filter((place) => place.kind === 'link' || !place.opened) };
        const found = find(scene, absolute(path, scene, rootOf(context.workspaces)), access);
        // A link may lead somewhere else since it was judged, to a secret for example.
        const now = await judge(tool, uses, closed, context);
        if (!covers(decision, now)) throw fileError('changed', `${path} leads somewhere else than a moment ago.`, 'Call again.');
        try {
          return await use(found);
        } catch (thrown) {
          if (context.signal.aborted) throw new AppError('cancelled', 'The request was cancelled; no file was changed.');
          if (!(thrown instanceof Moved)) throw diskError(thrown, found.path);
          if (attempt >= MAX_TRIES) throw fileError('changed', `${path} can't be opened: something keeps swapping the folders on the way.`);
        }
      }
    },
  };
}

function rootOf(workspaces: readonly WorkspaceBind[]): string {
  return workspaces[0]?.path ?? '/';
}

function problemOf({ path, access }: PathUse): string | undefined {
  if (path.includes('\0')) return 'path: contains a NUL character.';
  if (!path.isWellFormed()) return 'path: contains half of a character.';
  if (access === 'write' && /(?:^|\/)(?:\.{0,2})$/.test(path)) return 'path: names a folder, not a file.';
  return Buffer.byteLength(path) > MAX_PATH ? `path: is longer than ${MAX_PATH} bytes.` : undefined;
}

/** Every finding of now was there when it was decided. */
function covers(decision: Decision, now: Assessment): boolean {
  const key = ({ effect, verdict, reason, opens }: Assessment['findings'][number]): string =>
    JSON.stringify([effect, verdict, reason, opens]);
  const decided = new Set(decision.findings.map(key));
  return now.findings.every((finding) => decided.has(key(finding)));
}

function find(scene: FilesScene, meant: string, access: 'read' | 'write'): Found {
  const opened = openedAt(scene, meant, access);
  if (opened !== undefined) return opened;
  const found = resolvePath(scene, meant);
  switch (found.type) {
    case 'broken':
      throw fileError('not_found', `${meant} does not exist: ${found.why}.`);
    case 'hidden':
      throw fileError(
        'outside',
        `${found.path} is outside of the Workspace, and containment hides it.`,
        'Use a path inside the Workspace, its private HOME or /tmp; or the user can open its folder: with --root of `writ mcp`, or over HTTP as a workspace of the token.',
      );
    case 'above':
      throw fileError(
        'outside',
        `${found.inside} is outside of the Workspace; a run sees nothing in it but the way there.`,
        'Use a path inside.',
      );
    case 'seen': {
      if (access === 'write') checkWrite(scene, found.inside);
      return { path: found.inside, host: found.host, exists: found.exists, folder: isFolder(found.host), opened: false, scene };
    }
  }
}

/** The exact path that a yes opened, by its own name on the host. */
function openedAt(scene: FilesScene, meant: string, access: 'read' | 'write'): Found | undefined {
  const real = realpathAsFarAsItExists(meant);
  if (real === undefined) return undefined;
  const holds = scene.places.some(
    (place) => place.kind === 'bind' && place.opened && within(real, place.inside) && (access === 'read' || place.access === 'write'),
  );
  if (!holds) return undefined;
  const found = resolvePath(scene, real);
  return { path: real, host: real, exists: found.type === 'seen' && found.exists, folder: isFolder(real), opened: true, scene };
}

function checkWrite(scene: FilesScene, path: string): void {
  const holding = scene.places.filter((place) => place.kind === 'bind' && within(path, place.inside));
  const deepest = holding
    .filter((place) => place.kind === 'bind' && !place.opened)
    .toSorted((a, b) => b.inside.length - a.inside.length)[0];
  if (deepest?.kind !== 'bind' || deepest.access !== 'write') {
    throw fileError('outside', `${path} can be read here and not written.`, 'Write inside the Workspace, the private HOME or /tmp.');
  }
  const why = scene.protectedBecause(path);
  if (why === undefined) return;
  throw fileError(
    'protected',
    `${path} is protected [persistence]: ${why}, so whoever writes there decides what runs later, outside of containment.`,
    'The user can make this change in their own editor or terminal.',
  );
}
