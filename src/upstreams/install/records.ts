import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod';
import { errnoOf } from '../../kernel/errors.ts';

const MAX_BYTES = 1024 * 1024;

const wanted = z.strictObject({
  ecosystem: z.enum(['npm', 'python']),
  specs: z.array(z.string()).min(1).readonly(),
  bin: z.string().optional(),
  registry: z.string().optional(),
});
const program = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('node'), script: z.string(), flags: z.array(z.string()).readonly() }),
  z.strictObject({ type: z.literal('file'), path: z.string() }),
  z.strictObject({ type: z.literal('python'), site: z.string(), name: z.string(), entry: z.string() }),
]);
const recordSchema = z.strictObject({
  version: z.literal(1),
  /** What was asked for. */
  wanted,
  package: z.string(),
  package_version: z.string(),
  integrity: z.string().optional(),
  packages: z.int(),
  /** sha256 of the file that says what all of it is. */
  lock: z.string(),
  /** Absolute. */
  folder: z.string(),
  /** Real path of the project whose server it is for. */
  project: z.string().optional(),
  /** The one before it, kept for what still runs from there. */
  previous: z.string().optional(),
  program,
  /** What is compared before each start. */
  watched: z.array(z.strictObject({ path: z.string(), sha256: z.string() })).max(16),
  installed_at: z.int(),
  by: z.string(),
  /** The words of the installer. */
  command: z.array(z.string()),
});

/** What is installed for one server: `packages/NAME.json` of the Writ home, 0600, for people to read. */
export type InstallRecord = Readonly<z.output<typeof recordSchema>>;

/** Undefined: there is none, or none that could be trusted. */
export function readRecord(path: string): InstallRecord | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (thrown) {
    if (['ENOENT', 'ELOOP', 'EACCES'].includes(errnoOf(thrown) ?? '')) return undefined;
    throw thrown;
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > MAX_BYTES || (stat.mode & 0o022) !== 0 || stat.uid !== process.getuid?.()) return undefined;
    return recordSchema.safeParse(JSON.parse(readFileSync(fd, 'utf8'))).data;
  } catch (thrown) {
    if (thrown instanceof SyntaxError) return undefined;
    throw thrown;
  } finally {
    closeSync(fd);
  }
}

/** Whole or not at all, and on the disk when it returns. Under the lock of its server. */
export function writeRecord(path: string, record: InstallRecord): void {
  const draft = `${path}.next`;
  rmSync(draft, { force: true });
  writeFileSync(draft, `${JSON.stringify(record, null, 1)}\n`, { mode: 0o600, flag: 'wx', flush: true });
  renameSync(draft, path);
  const folder = openSync(dirname(path), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}

/** The first of its files that isn't what was installed; undefined: they all are. */
export function changedFile({ folder, watched }: Pick<InstallRecord, 'folder' | 'watched'>): string | undefined {
  return watched.find(({ path, sha256 }) => digestOf(join(folder, path)) !== sha256)?.path;
}

/** Empty: it can't be read. */
export function digestOf(path: string): string {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return '';
  }
}
