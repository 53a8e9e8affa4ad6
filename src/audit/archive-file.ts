import { closeSync, constants, fsyncSync, mkdirSync, openSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { readPlainFile } from '../kernel/plain-file.ts';
import { hex } from './chain.ts';
import type { StoredRow } from './chain-walk.ts';

/** Above this, packed or unpacked, a file is none of ours (archive-due.ts bounds what goes in). */
const MAX_FILE = 64 * 1024 * 1024;

/** Of gzip: half the time of the default, for files a little bigger. */
const LEVEL = 3;

const HEADER = canonicalJson({ type: 'header', format: 'writ-audit-archive', version: 1 });

export function archiveFolder(directory: string): string {
  return join(directory, 'archive');
}

/** Header and rows as JSON lines, compressed: `zcat` shows them without Writ. */
export function packRows(rows: readonly StoredRow[]): Buffer {
  const lines = rows.map(({ chain, seq, bytes, hash }) => canonicalJson({ type: 'row', chain, seq, bytes, hash: hex(hash) }));
  return gzipSync([HEADER, ...lines, ''].join('\n'), { level: LEVEL });
}

/** The rows of a packed file, or undefined when it isn't one, line for line as we write them. */
export function unpackRows(packed: Buffer): StoredRow[] | undefined {
  try {
    const [header, ...lines] = gunzipSync(packed, { maxOutputLength: MAX_FILE }).toString('utf8').split('\n');
    if (header !== HEADER || lines.pop() !== '') return undefined;
    return lines.map((line) => {
      const { chain, seq, bytes, hash } = JSON.parse(line);
      if (typeof chain !== 'string' || !Number.isSafeInteger(seq) || typeof bytes !== 'string') throw new Error('not a row');
      const row: StoredRow = { chain, seq, bytes, hash: Buffer.from(hash, 'hex') };
      if (canonicalJson({ type: 'row', chain, seq, bytes, hash: hex(row.hash) }) !== line) throw new Error('not as we write it');
      return row;
    });
  } catch {
    return undefined;
  }
}

/** The packed file, or why there is none: it was moved away, or what is there is no file of ours. */
export function readArchive(directory: string, name: string): Buffer | 'absent' | 'unreadable' {
  const file = readPlainFile(join(archiveFolder(directory), name), MAX_FILE);
  if (file.state === 'read') return file.bytes;
  return file.state === 'absent' ? 'absent' : 'unreadable';
}

/** Writes the file whole: flushed under a passing name first, then named, then the folder flushed. Call it under the write lock. */
export function writeArchive(directory: string, name: string, packed: Buffer): void {
  const folder = archiveFolder(directory);
  const passing = join(folder, `${name}.tmp`);
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const fd = openSync(passing, O_WRONLY | O_CREAT | O_EXCL, 0o600);
  try {
    writeFileSync(fd, packed);
    fsyncSync(fd);
  } catch (thrown) {
    rmSync(passing, { force: true });
    throw thrown;
  } finally {
    closeSync(fd);
  }
  renameSync(passing, join(folder, name));
  flushFolder(folder);
}

/** Names in the folder, which is made if missing; files that a crash left half written are gone. Call it under the write lock. */
export function tidyNames(directory: string): string[] {
  const folder = archiveFolder(directory);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return readdirSync(folder).filter((name) => {
    if (!name.endsWith('.jsonl.gz.tmp')) return true;
    rmSync(join(folder, name), { force: true });
    return false;
  });
}

export function removeArchive(directory: string, name: string): void {
  rmSync(join(archiveFolder(directory), name), { force: true });
}

function flushFolder(folder: string): void {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
