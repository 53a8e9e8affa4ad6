import { constants } from 'node:fs';
import { type FileHandle, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { isId } from '../../kernel/ids.ts';

/** The folder of one artifact: `record.json`, and `content` where it was kept here. Written under another name first, so that nobody sees half of it. */

const FORMAT = 1;
const RECORD = 'record.json';
const CONTENT = 'content';
/** The longest path takes a few KB. */
const MAX_RECORD_BYTES = 64 * 1024;
export const DRAFT = '.new-';

const recordShape = z.object({
  version: z.literal(FORMAT),
  owner: z.object({ organization: z.string(), agent: z.string(), run: z.string() }),
  created_at: z.number(),
  server: z.string(),
  tool: z.string(),
  media_type: z.string(),
  bytes: z.number(),
  /** Of what was kept, or what the upstream says of its file. */
  sha256: z.string().optional(),
  /** Absent: the content lies here. */
  file: z
    .object({
      reference: z.object({
        uri: z.string(),
        sha256: z.string().optional(),
        size_bytes: z.number().optional(),
      }),
      roots: z.array(z.string()),
      identity: z.object({ dev: z.string(), ino: z.string(), size: z.number(), changed: z.string() }),
    })
    .optional(),
});

export type ArtifactRecord = z.infer<typeof recordShape>;

export async function writeArtifact(
  folder: string,
  id: string,
  record: Omit<ArtifactRecord, 'version'>,
  content: Uint8Array | undefined,
): Promise<void> {
  const draft = join(folder, DRAFT + id);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await mkdir(draft, { mode: 0o700 });
    if (content !== undefined) await writeFile(join(draft, CONTENT), content, { mode: 0o600, flag: 'wx' });
    await writeFile(join(draft, RECORD), JSON.stringify({ version: FORMAT, ...record }), { mode: 0o600, flag: 'wx' });
    await rename(draft, join(folder, id));
  } catch (thrown) {
    await rm(draft, { recursive: true, force: true });
    throw thrown;
  }
}

/** Undefined: there is none of this id, or it can't be read. */
export async function readRecord(folder: string, id: string): Promise<ArtifactRecord | undefined> {
  if (!isId('art', id)) return undefined;
  let handle: FileHandle | undefined;
  try {
    handle = await openPlain(join(folder, id, RECORD));
    const { size } = await handle.stat();
    if (size > MAX_RECORD_BYTES) return undefined;
    const read = recordShape.safeParse(JSON.parse(await readFile(handle, 'utf8')));
    return read.success ? read.data : undefined;
  } catch {
    // Missing, half removed or not ours: for whoever asks, it isn't there; retention takes away what is left of it.
    return undefined;
  } finally {
    await handle?.close();
  }
}

export function openContent(folder: string, id: string): Promise<FileHandle> {
  return openPlain(join(folder, id, CONTENT));
}

function openPlain(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
}
