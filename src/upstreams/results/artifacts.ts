import { hash } from 'node:crypto';
import { type FileHandle, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Owner } from '../../execution/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, errnoOf, toAppError } from '../../kernel/errors.ts';
import { isId, newId } from '../../kernel/ids.ts';
import type { Logger } from '../../kernel/logger.ts';
import { type ArtifactPage, readPage } from './artifact-page.ts';
import { type ArtifactRecord, DRAFT, openContent, readRecord, writeArtifact } from './artifact-record.ts';
import { ARTIFACT_LIMITS, type ArtifactLimits, type KeptArtifact, planArtifactRemovals } from './artifact-retention.ts';
import { type ArtifactReference, type FileIdentity, openReference } from './reference.ts';

export type { ArtifactPage } from './artifact-page.ts';

/** Whose it is. Other agents', and those of other organizations, look absent. */
export type ArtifactOwner = Pick<Owner, 'organization' | 'agent' | 'run'>;

/** Something that a result was too large for, or only pointed to. */
export interface Artifact {
  readonly id: string;
  readonly server: string;
  readonly tool: string;
  readonly media_type: string;
  readonly bytes: number;
  readonly sha256?: string;
  readonly created_at: number;
}

export interface Origin {
  readonly server: string;
  readonly tool: string;
}

export interface ArtifactStore {
  /** Real path of the Writ home: what lies in it is never handed out as a file of an upstream. */
  readonly home: string;
  /** Keeps a copy. AppError disk_full. */
  keep(owner: ArtifactOwner, origin: Origin, content: { readonly media_type: string; readonly bytes: Uint8Array }): Promise<Artifact>;
  /** Keeps where a file is that was looked at; it is looked at again at every read. */
  refer(
    owner: ArtifactOwner,
    origin: Origin,
    file: { readonly reference: ArtifactReference; readonly roots: readonly string[]; readonly identity: FileIdentity },
  ): Promise<Artifact>;
  /** Newest first. */
  list(owner: ArtifactOwner): Promise<readonly Artifact[]>;
  /** Undefined: there is none for this owner. AppError file_refused: its file is no longer what the upstream referred to. */
  read(
    owner: ArtifactOwner,
    id: string,
    request: { readonly cursor: number; readonly max_bytes: number },
    signal: AbortSignal,
  ): Promise<{ readonly artifact: Artifact; readonly page: ArtifactPage } | undefined>;
  /** Takes away what is old or too much. It is also done by itself, now and then. */
  sweep(): Promise<readonly string[]>;
}

export interface ArtifactParts {
  readonly home: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: ArtifactLimits;
}

/** Retention is looked after again when this process has kept so much: the quota may be passed by as much until then. */
const SWEEP_EVERY = { artifacts: 100, bytes: 64 * 1024 ** 2 };
const DRAFT_MS = 3_600_000;
const MAX_LISTED = 1_000;

export function createArtifacts({ home, clock, logger, limits = ARTIFACT_LIMITS }: ArtifactParts): ArtifactStore {
  const folder = join(home, 'artifacts');
  let due = { artifacts: 0, bytes: 0 };
  let sweeping: Promise<readonly string[]> | undefined;

  const sweep = (): Promise<readonly string[]> => {
    sweeping ??= clean(folder, limits, clock.now()).finally(() => {
      sweeping = undefined;
      due = { ...SWEEP_EVERY };
    });
    return sweeping;
  };

  async function add(
    owner: ArtifactOwner,
    record: Omit<ArtifactRecord, 'version' | 'owner' | 'created_at'>,
    content?: Uint8Array,
  ): Promise<Artifact> {
    const created_at = clock.now();
    const id = newId('art', created_at);
    const { organization, agent, run } = owner;
    const whole = { owner: { organization, agent, run }, created_at, ...record };
    try {
      await writeArtifact(folder, id, whole, content);
    } catch (thrown) {
      throw toAppError(thrown);
    }
    due = { artifacts: due.artifacts - 1, bytes: due.bytes - (content?.length ?? 0) };
    if (due.artifacts < 0 || due.bytes < 0) {
      sweep().catch((thrown: unknown) => logger.warn('old artifacts could not be removed', { reason: toAppError(thrown).message }));
    }
    return artifactOf(id, whole);
  }

  async function find(owner: ArtifactOwner, id: string): Promise<ArtifactRecord | undefined> {
    const record = await readRecord(folder, id);
    if (record === undefined || clock.now() - record.created_at >= limits.retention_ms) return undefined;
    return record.owner.organization === owner.organization && record.owner.agent === owner.agent ? record : undefined;
  }

  return {
    home,
    keep: (owner, origin, { media_type, bytes }) =>
      add(owner, { ...origin, media_type, bytes: bytes.length, sha256: hash('sha256', bytes, 'hex') }, bytes),
    refer: (owner, origin, { reference, roots, identity }) => {
      const { uri, media_type, sha256, size_bytes } = reference;
      const kept = { uri, ...(sha256 === undefined ? {} : { sha256 }), ...(size_bytes === undefined ? {} : { size_bytes }) };
      return add(owner, {
        ...origin,
        media_type,
        bytes: identity.size,
        ...(sha256 === undefined ? {} : { sha256 }),
        file: { reference: kept, roots: [...roots], identity },
      });
    },
    async list(owner) {
      const found: Artifact[] = [];
      for (const id of (await namesIn(folder))
        .filter((name) => isId('art', name))
        .toSorted()
        .toReversed()) {
        const record = await find(owner, id);
        if (record !== undefined) found.push(artifactOf(id, record));
        if (found.length >= MAX_LISTED) break;
      }
      return found;
    },
    async read(owner, id, request, signal) {
      const record = await find(owner, id);
      if (record === undefined) return undefined;
      const artifact = artifactOf(id, record);
      const handle = record.file === undefined ? await openKept(folder, id) : await openFile(artifact, record.file, home, signal);
      if (handle === undefined) return undefined;
      try {
        return { artifact, page: await readPage(handle, { media_type: record.media_type, total_bytes: record.bytes }, request) };
      } finally {
        await handle.close();
      }
    },
    sweep,
  };
}

function artifactOf(id: string, { server, tool, media_type, bytes, sha256, created_at }: Omit<ArtifactRecord, 'version'>): Artifact {
  return { id, server, tool, media_type, bytes, created_at, ...(sha256 === undefined ? {} : { sha256 }) };
}

async function openKept(folder: string, id: string): Promise<FileHandle | undefined> {
  try {
    return await openContent(folder, id);
  } catch (thrown) {
    // Taken away by retention since its record was read.
    if (errnoOf(thrown) === 'ENOENT') return undefined;
    throw toAppError(thrown);
  }
}

/** By the look that it had when its result came in, and then it must be that very file. */
async function openFile(
  { id, server, tool }: Artifact,
  { reference, roots, identity }: NonNullable<ArtifactRecord['file']>,
  writ_home: string,
  signal: AbortSignal,
): Promise<FileHandle> {
  const { uri, sha256, size_bytes } = reference;
  const declared = { uri, ...(sha256 === undefined ? {} : { sha256 }), ...(size_bytes === undefined ? {} : { size_bytes }) };
  const opened = await openReference(declared, { roots, writ_home }, signal);
  const refused = (reason: string): AppError =>
    new AppError('file_refused', `Artifact ${id} can't be read: ${reason} (a file of the tool "${tool}" of the MCP server "${server}").`, {
      fix: 'Call the tool again: what it refers to then is looked at anew.',
      data: { origins: [`mcp:${server}`] },
    });
  if (!opened.ok) throw refused(opened.reason);
  const same = (['dev', 'ino', 'size', 'changed'] as const).every((key) => opened.identity[key] === identity[key]);
  if (same) return opened.handle;
  await opened.handle.close();
  throw refused('it was changed since the server referred to it');
}

async function clean(folder: string, limits: ArtifactLimits, now: number): Promise<readonly string[]> {
  const kept: KeptArtifact[] = [];
  const gone: string[] = [];
  for (const name of await namesIn(folder)) {
    const record = await readRecord(folder, name);
    if (record !== undefined) {
      const { organization, agent } = record.owner;
      kept.push({
        id: name,
        agent: JSON.stringify([organization, agent]),
        bytes: record.file ? 0 : record.bytes,
        created_at: record.created_at,
      });
    } else if ((name.startsWith(DRAFT) || isId('art', name)) && (await isOlder(join(folder, name), now - DRAFT_MS))) gone.push(name);
  }
  gone.push(...planArtifactRemovals(kept, limits, now));
  for (const name of gone) await rm(join(folder, name), { recursive: true, force: true });
  return gone;
}

async function isOlder(path: string, than: number): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < than;
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return false;
    throw thrown;
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw toAppError(thrown);
  }
}
