import { dirname, isAbsolute, join, normalize } from 'node:path';
import type { ExecutionConfig } from '../core-types.ts';
import type { WorkspaceBind } from '../types.ts';
import type { Persons } from './forbidden.ts';
import { type Looks, PLAIN_LOOKS } from './looks.ts';
import { type Mount, within } from './mount.ts';
import { modulesAbove, programFolders } from './program-folder.ts';
import { FOLDER_VARIABLES, SECRET_FOLDERS, TOOLCHAINS, TREE_MARKS, TREE_PARTS } from './toolchain-table.ts';

/** PATH and the tool chains behind it, as far as they may exist inside. */
export interface Toolchains {
  readonly mounts: readonly Mount[];
  readonly path: readonly string[];
  /** Inherited variables whose folder isn't there. */
  readonly dropped: ReadonlySet<string>;
  /** Variables that a bound tool chain needs to find itself. */
  readonly env: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
  /** Of `programs`, those that aren't there inside, with the reason. */
  readonly refused: ReadonlyMap<string, string>;
}

export interface ToolchainInput {
  readonly config: Pick<ExecutionConfig, 'host_env'>;
  readonly persons: Persons;
  readonly workspaces: readonly WorkspaceBind[];
  /** Whether the run's user gets to a path on the host. */
  readonly reaches: (path: string) => boolean;
  /** Whose programs a person means to run: root's, their own, the run's user. */
  readonly trusted_uids: readonly number[];
  /** Files that will be started by name, wherever they lie. */
  readonly programs?: readonly string[];
}

const STANDARD = ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin'] as const;
/** Bound by system-mounts.ts already. */
const SYSTEM = ['/usr', '/bin', '/sbin', '/lib', '/lib64', '/opt'] as const;
/** Private or masked inside: what the host has there doesn't exist. */
const MASKED = ['/var/tmp', '/dev', '/proc', '/sys', '/run', '/etc'] as const;
const MAX_ENTRIES = 128;

/** Gathers PATH and the variables of the allow-list that name folders. What is refused is listed with the reason. */
export function gatherToolchains(input: ToolchainInput, looks: Looks = PLAIN_LOOKS): Toolchains {
  const { look, kindOf, realPath } = looks;
  const { config, persons, workspaces } = input;
  const bound = new Set<string>();
  const notes: string[] = [];
  const env: Record<string, string> = {};
  const visible = (path: string): boolean =>
    SYSTEM.some((folder) => within(path, folder)) || workspaces.some((workspace) => within(path, workspace.path));

  /** Why a real path can't be bound. `program`: one that was named, and may have a Workspace of its own inside. */
  const refusal = (path: string, program = false): string | undefined => {
    if (path.split('/').length < 3) return 'it is not at least two levels deep';
    if (MASKED.some((folder) => within(path, folder))) return 'it lies where the sandbox has folders of its own';
    if (within(persons.user_home, path)) return 'it is or holds your home folder';
    if (within(path, persons.writ_home) || within(persons.writ_home, path)) return 'it is or holds the Writ home';
    if (!program && workspaces.some((workspace) => within(workspace.path, path))) return 'it holds a workspace';
    const secret = SECRET_FOLDERS.map((name) => join(persons.user_home, name)).find((one) => within(path, one) || within(one, path));
    if (secret !== undefined) return `it is in or holds ${secret}`;
    const stat = look(path);
    if (stat && !stat.isSymbolicLink() && (stat.mode & 0o002) !== 0) return 'everybody may write there';
    if (stat && !input.trusted_uids.includes(stat.uid)) return `it belongs to another user (uid ${stat.uid})`;
    return input.reaches(path) ? undefined : "the run's user can't reach it";
  };
  /** Binds what is there of a tool chain; what isn't, or may not be, stays away. */
  const bindParts = (root: string, needs: readonly string[]): void => {
    for (const need of needs) {
      const path = need === '.' ? root : join(root, need);
      const kind = kindOf(path);
      // A link (lib64 -> lib) can't be a mount; its target is bound by name where the table has it.
      if (kind !== 'file' && kind !== 'folder' && kind !== 'link') continue;
      const target = realPath(path);
      if (target === undefined || visible(target)) continue;
      const why = refusal(target);
      if (why === undefined) bound.add(target);
      else notes.push(`${path} is not in the sandbox: ${why}`);
    }
  };
  const bindEntry = (entry: string): void => {
    for (const rule of TOOLCHAINS) {
      const root = rule.entry.exec(entry)?.[1];
      if (root === undefined) continue;
      bindParts(root, rule.needs);
      for (const [name, below] of Object.entries(rule.env ?? {})) {
        const named = config.host_env[name] ?? join(root, below);
        if (kindOf(named) === 'folder') env[name] = named;
      }
      return;
    }
    const tree = dirname(entry);
    bindParts(tree, isTree(entry) ? TREE_PARTS : [entry.slice(tree.length + 1)]);
    if (isTree(entry)) bindBasePython(tree);
  };
  const isTree = (entry: string): boolean => {
    const tree = dirname(entry);
    return /\/s?bin$/.test(entry) && tree !== persons.user_home && TREE_MARKS.some((mark) => kindOf(join(tree, mark)) !== 'absent');
  };
  const refused = new Map<string, string>();
  const isThere = (path: string): boolean => visible(path) || [...bound].some((one) => within(path, one));
  const bindProgram = (program: string): void => {
    const entry = dirname(program);
    if (!isThere(program) && (isTree(entry) || TOOLCHAINS.some((rule) => rule.entry.test(entry)))) bindEntry(entry);
    if (isThere(program)) return;
    let why: string | undefined;
    for (const place of programFolders(program, persons.user_home, looks)) {
      const refusing = refusal(place, true);
      if (refusing === undefined) {
        bound.add(place);
        for (const modules of modulesAbove(place, persons.user_home, looks)) if (refusal(modules, true) === undefined) bound.add(modules);
        if (place === program) notes.push(`of ${program} only the file itself is in the sandbox: nothing beside it is part of a package`);
        return;
      }
      why ??= refusing;
    }
    refused.set(program, why ?? 'it is not there');
  };
  /** A virtual environment starts the Python it was made from (PEP 405, `home`). */
  const bindBasePython = (tree: string): void => {
    const home = pyvenvHome(tree, looks);
    if (home === undefined || visible(home)) return;
    // The file of an environment inside a Workspace can be written by a run: only tool chains we know are believed.
    const known = TOOLCHAINS.some((rule) => rule.entry.test(home));
    if (known) bindEntry(home);
    else if (workspaces.some((workspace) => within(tree, workspace.path)))
      notes.push(`${tree} is based on ${home}, which is not in the sandbox`);
    else bindEntry(home);
  };

  const path: string[] = [];
  const entries = [...new Set((config.host_env['PATH'] ?? '').split(':'))];
  if (entries.length > MAX_ENTRIES) notes.push(`PATH has ${entries.length} entries; those after the first ${MAX_ENTRIES} were left out`);
  for (const entry of entries.slice(0, MAX_ENTRIES)) {
    const clean = isAbsolute(entry) ? normalize(entry).replace(/(?<=.)\/$/, '') : undefined;
    if (clean === undefined) {
      if (entry !== '') notes.push(`PATH entry ${entry} was left out: it is not absolute`);
      continue;
    }
    const target = kindOf(clean) === 'absent' ? undefined : realPath(clean);
    if (visible(clean)) {
      path.push(clean);
      if (workspaces.some((workspace) => within(clean, workspace.path))) bindBasePython(dirname(clean));
    } else if (target !== undefined) {
      const why = visible(target) ? undefined : refusal(target);
      if (why !== undefined) notes.push(`PATH entry ${clean} was left out: ${why}`);
      else {
        // A link into a tool chain (fnm, Nix profiles) isn't there inside; what it names is.
        path.push(target);
        if (!visible(target)) bindEntry(target);
      }
    }
  }

  const dropped = new Set<string>();
  for (const variable of FOLDER_VARIABLES) {
    const value = config.host_env[variable.name];
    if (value === undefined) continue;
    const target = isAbsolute(value) ? realPath(value) : undefined;
    if (target !== undefined && !visible(target)) bindParts(target, variable.needs);
    if (target !== undefined && variable.name === 'VIRTUAL_ENV') bindBasePython(target);
    const there = target !== undefined && (visible(target) || [...bound].some((one) => within(one, target)));
    if (there && target !== value && !visible(value)) env[variable.name] = target;
    else if (!there && !(variable.makes_itself && within(value, persons.user_home))) {
      dropped.add(variable.name);
      notes.push(`${variable.name} was left out: ${value} is not in the sandbox`);
    }
  }

  for (const program of input.programs ?? []) bindProgram(program);

  const outermost = [...bound].filter((one) => ![...bound].some((other) => other !== one && within(one, other)));
  return {
    mounts: outermost.map((one): Mount => ({ kind: 'bind', source: one, dest: one, access: 'read', optional: true })),
    path: [...new Set([...path, ...STANDARD])],
    dropped,
    env,
    notes: [...new Set(notes)],
    refused,
  };
}

function pyvenvHome(tree: string, { readSmall, realPath }: Looks): string | undefined {
  const named = /^home\s*=\s*(.+)$/m.exec(readSmall(join(tree, 'pyvenv.cfg')) ?? '')?.[1]?.trim();
  return named !== undefined && isAbsolute(named) ? realPath(named) : undefined;
}
