import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { chmod, lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ZodError } from 'zod';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, errnoOf, toAppError } from '../../kernel/errors.ts';
import { withFileLock } from '../../kernel/file-lock.ts';
import { newId } from '../../kernel/ids.ts';
import { visible } from '../../kernel/visible.ts';
import type { UpstreamKey } from '../approvals/records.ts';
import { keyOf } from '../approvals/types.ts';
import type { UpstreamSettings, UpstreamTransport } from '../types.ts';
import { lookAt, nameOf, type PackageLook } from './look.ts';
import { npmInstaller } from './npm.ts';
import { pythonInstaller, pythonStart } from './python.ts';
import { readCommand } from './read-command.ts';
import { digestOf, type InstallRecord, readRecord, writeRecord } from './records.ts';
import type { Found, Installer, InstallerEnd, InstallerRun, Installing, Wanted } from './types.ts';

/** Below the Writ home: the records, and for ordinary users what is installed. */
export const PACKAGES_FOLDER = 'packages';
const INSTALL_MS = 5 * 60_000;
const MAX_SHOWN = 4_000;
/** Longer than anything between an installation and its entry in the configuration. */
const ORPHAN_MS = 60 * 60_000;

const INSTALLERS: Readonly<Record<Wanted['ecosystem'], Installer>> = { npm: npmInstaller, python: pythonInstaller };

export interface PackagesParts extends Omit<Installing, 'has'> {
  /** Real path of the Writ home. */
  readonly home: string;
  readonly clock: Clock;
  /** The Node that packages of npm run with. */
  readonly node: string;
  /** Where they are installed, made if missing (ChannelSpec.installation is below it), and what there is to install with. */
  machine(): Promise<{ readonly folder: string } & Pick<Installing, 'has'>>;
  /** Runs an installer to its end, contained; AppError where it can't be started, cancelled. */
  run(installer: InstallerRun, signal: AbortSignal): Promise<InstallerEnd>;
}

export interface InstallOptions {
  /** What is installed is looked for anew. */
  readonly update?: boolean;
  /** Hosts that the installer may reach besides the registries. */
  readonly hosts?: readonly string[];
  /** Who asked for it. */
  readonly by: string;
}

/** `undo` puts back what was installed before, while nothing else was. */
export type Installed =
  | { readonly type: 'installed'; readonly record: InstallRecord; undo(): Promise<void> }
  /** What is wanted is there already. */
  | { readonly type: 'there'; readonly record: InstallRecord }
  /** Its command fetches nothing. */
  | { readonly type: 'none' };

export interface Launch {
  readonly argv: readonly string[];
  /** The folder that has to be seen for it. */
  readonly folder?: string;
}

/** The packages behind `npx` and `uvx`: installed by an act of a person, pinned, and started from there. */
export interface Packages {
  /** Cheap, and nothing is fetched. */
  look(settings: UpstreamSettings): PackageLook;
  /** Exactly what is installed, in words that differ whenever it does; undefined: nothing is, or it needs nothing. */
  versionOf(settings: UpstreamSettings): string | undefined;
  /** What is started in place of a command. `transport`: with its references filled in. AppError where it isn't installed. */
  launch(settings: UpstreamSettings, transport: Extract<UpstreamTransport, { type: 'stdio' }>): Launch;
  /** AppError: invalid_arguments (can't be installed as it is written), not_found, upstream_unavailable (the installer said no), busy, cancelled. */
  install(settings: UpstreamSettings, options: InstallOptions, signal: AbortSignal): Promise<Installed>;
  /** False: nothing was installed. */
  remove(key: UpstreamKey): Promise<boolean>;
  /**
   * Removes what is nobody's: of servers that no configuration names (`configured`: the operator's, by name; a project's go with their
   * folder), an hour after it was installed. Who adds a server and is killed leaves that.
   */
  sweep(configured: ReadonlySet<string>): Promise<void>;
}

export function createPackages(parts: PackagesParts): Packages {
  const records = join(parts.home, PACKAGES_FOLDER);
  const idOf = ({ project, name }: UpstreamKey): string =>
    project === null ? name : `${name}.${createHash('sha256').update(project).digest('hex').slice(0, 12)}`;
  const recordPath = (key: UpstreamKey): string => join(records, `${idOf(key)}.json`);
  const look = (settings: UpstreamSettings): PackageLook => lookAt(settings, () => readRecord(recordPath(keyOf(settings))));
  const locked = <T>(key: UpstreamKey, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    mkdirSync(records, { recursive: true, mode: 0o700 });
    return withFileLock(join(records, `${idOf(key)}.lock`), work, signal);
  };

  async function build(
    wanted: Wanted,
    folder: string,
    has: Installing['has'],
    options: InstallOptions,
    signal: AbortSignal,
  ): Promise<InstallRecord> {
    const installer = INSTALLERS[wanted.ecosystem];
    const run = installer.prepare(wanted, folder, { ...parts, has });
    const { hosts = [] } = options;
    const network = typeof run.network === 'string' ? run.network : { ...run.network, own: [...run.network.own, ...hosts] };
    const timeout = AbortSignal.timeout(INSTALL_MS);
    const end = await parts.run({ ...run, network }, AbortSignal.any([signal, timeout])).catch((thrown: unknown) => {
      if (!timeout.aborted || signal.aborted) throw thrown;
      throw new AppError('upstream_unavailable', `${nameOf(wanted)} was not installed within ${INSTALL_MS / 60_000} minutes.`);
    });
    if (end.exit_code !== 0) throw failed(wanted, end);
    const { lock, watched, version, ...found } = readInstalled(installer, wanted, folder);
    return {
      version: 1,
      wanted,
      ...found,
      package_version: version,
      lock: digestOf(join(folder, lock)),
      folder,
      watched: watched.map((path) => ({ path, sha256: digestOf(join(folder, path)) })),
      installed_at: parts.clock.now(),
      by: options.by,
      command: [...run.argv],
    };
  }

  async function replace(key: UpstreamKey, wanted: Wanted, options: InstallOptions, signal: AbortSignal): Promise<Installed> {
    const before = readRecord(recordPath(key));
    const machine = await parts.machine();
    const mine = join(machine.folder, idOf(key));
    mkdirSync(mine, { recursive: true, mode: 0o711 });
    // What an installer that was killed has left, and what nothing can run from any more.
    for (const name of readdirSync(mine)) {
      const folder = join(mine, name);
      if (folder !== before?.folder) await rm(folder, { recursive: true, force: true });
    }
    const folder = join(mine, newId('pkg', parts.clock.now()));
    const draft = `${folder}.draft`;
    mkdirSync(draft, { mode: 0o755 });
    try {
      const made = await build(wanted, draft, machine.has, options, signal);
      await openForReading(draft);
      signal.throwIfAborted();
      renameSync(draft, folder);
      const record = {
        ...made,
        folder,
        ...(key.project === null ? {} : { project: key.project }),
        ...(before === undefined ? {} : { previous: before.folder }),
      };
      writeRecord(recordPath(key), record);
      const undo = (): Promise<void> =>
        locked(key, async () => {
          // Somebody has installed another one since, which is theirs.
          if (readRecord(recordPath(key))?.folder !== folder) return;
          if (before === undefined) rmSync(recordPath(key), { force: true });
          else writeRecord(recordPath(key), before);
          await rm(before === undefined ? mine : folder, { recursive: true, force: true });
        });
      return { type: 'installed', record, undo };
    } catch (thrown) {
      await rm(draft, { recursive: true, force: true });
      if (before === undefined) await rm(mine, { recursive: true, force: true });
      throw toAppError(thrown);
    }
  }

  async function forget(id: string, trees: string): Promise<true> {
    rmSync(join(records, `${id}.json`), { force: true });
    await rm(join(trees, id), { recursive: true, force: true });
    removeIfEmpty(trees);
    return true;
  }

  function isOrphan(id: string, configured: ReadonlySet<string>): boolean {
    const record = readRecord(join(records, `${id}.json`));
    if (record === undefined || parts.clock.now() - record.installed_at < ORPHAN_MS) return false;
    return record.project === undefined ? !id.includes('.') && !configured.has(id) : !existsSync(record.project);
  }

  return {
    look,
    versionOf(settings) {
      const { transport } = settings;
      if (transport.type !== 'stdio' || readCommand(transport).type !== 'package') return undefined;
      const record = readRecord(recordPath(keyOf(settings)));
      return record === undefined ? undefined : versionIn(record);
    },
    launch(settings, transport) {
      const found = look(settings);
      const { command, args } = transport;
      if (found.state === 'none') return { argv: [command, ...args] };
      if (found.state !== 'installed') throw new AppError('backend_unavailable', `${found.reason}.`);
      const { folder, program } = found.record;
      return { argv: [...startOf(program, folder, parts.node), ...args.slice(found.args_from)], folder };
    },
    async install(settings, options, signal) {
      const found = look(settings);
      if (found.state === 'none') return { type: 'none' };
      if (found.state === 'unclear') throw new AppError('invalid_arguments', `"${settings.name}" can't be installed: ${found.reason}`);
      if (found.state === 'installed' && options.update !== true) return { type: 'there', record: found.record };
      const wanted = found.state === 'installed' ? found.record.wanted : found.wanted;
      const key = keyOf(settings);
      const work = async (): Promise<Installed> => {
        // Somebody else may have installed it while we waited.
        const now = look(settings);
        if (now.state === 'installed' && options.update !== true) return { type: 'there', record: now.record };
        return replace(key, wanted, options, signal);
      };
      return locked(key, work, signal);
    },
    async remove(key) {
      if (!existsSync(recordPath(key))) return false;
      const { folder } = await parts.machine();
      return locked(key, () => forget(idOf(key), folder));
    },
    async sweep(configured) {
      for (const id of existsSync(records) ? idsIn(records) : []) {
        if (!isOrphan(id, configured)) continue;
        const { folder } = await parts.machine();
        await withFileLock(join(records, `${id}.lock`), async () => isOrphan(id, configured) && forget(id, folder));
      }
    },
  };
}

/** Of the records in there. */
function idsIn(records: string): readonly string[] {
  return readdirSync(records).flatMap((name) => (name.endsWith('.json') ? [name.slice(0, -'.json'.length)] : []));
}

/** A package may be anything, and is no fault of ours. */
function readInstalled(installer: Installer, wanted: Wanted, folder: string): Found {
  try {
    return installer.read(wanted, folder);
  } catch (thrown) {
    if (thrown instanceof AppError) throw thrown;
    const why = thrown instanceof ZodError ? (thrown.issues[0]?.message ?? '') : (thrown as Error).message;
    throw new AppError(
      'upstream_error',
      `${nameOf(wanted)} is not made as a package is, so nothing of it can be started: ${visible(why.slice(0, 300))}.`,
      { cause: thrown },
    );
  }
}

/** In one line: what approvals are bound to. */
export function versionIn(record: InstallRecord): string {
  const { wanted, package: name, package_version, integrity, lock } = record;
  return `${wanted.ecosystem}:${name}@${package_version} ${integrity ?? 'without integrity'} lock sha256:${lock}`;
}

function startOf(program: InstallRecord['program'], folder: string, node: string): readonly string[] {
  switch (program.type) {
    case 'node':
      return [node, ...program.flags, join(folder, program.script)];
    case 'file':
      return [join(folder, program.path)];
    case 'python':
      return pythonStart(join(folder, program.site), program.name, program.entry);
  }
}

function failed(wanted: Wanted, { exit_code, output, refused, limits_hit = [] }: InstallerEnd): AppError {
  const said = output.trim().slice(-MAX_SHOWN);
  const reach =
    refused.length === 0 ? [] : [`It wanted to reach ${refused.join(', ')}, which ${refused.length === 1 ? 'is' : 'are'} not open to it.`];
  return new AppError(
    'upstream_unavailable',
    [
      `${nameOf(wanted)} could not be installed (the installer ended with ${exit_code ?? 'an unknown code'}).`,
      ...reach,
      ...(limits_hit.length === 0 ? [] : [`It took more than sandbox.limits give it (${limits_hit.join(', ')}).`]),
      ...(said === '' ? [] : [`It said:\n${said}`]),
    ].join(' '),
    {
      fix:
        refused.length === 0
          ? 'Look at what it says; nothing was changed.'
          : 'Open a host that you know with `writ upstream install NAME --host HOST`.',
    },
  );
}

/** Root's are run by other users too. */
async function openForReading(folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return chmodSync(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isSymbolicLink()) continue;
    const path = join(entry.parentPath, entry.name);
    const { mode } = await lstat(path);
    const wanted = (mode & 0o755) | (entry.isDirectory() || (mode & 0o100) !== 0 ? 0o755 : 0o644);
    // A program that runs as its owner would be root's for everybody.
    if ((mode & 0o7777) !== wanted) await chmod(path, wanted);
  }
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch (thrown) {
    if (!['ENOTEMPTY', 'EEXIST', 'ENOENT'].includes(errnoOf(thrown) ?? '')) throw thrown;
  }
}
