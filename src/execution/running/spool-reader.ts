import { type FileHandle, open } from 'node:fs/promises';
import type { SpoolPage } from '../types.ts';
import { decodeRecord, INDEX_FILE, KIND, LOG_FILE, RECORD_BYTES, type SpoolRecord } from './spool-format.ts';
import { decodeText, incompleteTail } from './utf8-edge.ts';

/** One page is never bigger, whatever was asked for; and never so small that a character doesn't fit. */
const MAX_PAGE_BYTES = 1024 * 1024;
const MIN_PAGE_BYTES = 4;
/** Stretches in one page; a page of output that alternates byte by byte ends early instead of holding a million chunks. */
const MAX_CHUNKS = 4096;

export interface SpoolRequest {
  readonly cursor: number;
  readonly max_bytes: number;
  /** The caller knows that the run is over, though its spool was never closed (its process died). */
  readonly over?: boolean;
}

/**
 * A page of a spool, also while it is being written. A cursor inside a character goes back to where that one starts; a cursor beyond the
 * end gives an empty page at the end. A folder without a spool is one without output so far.
 */
export async function readSpool(folder: string, request: SpoolRequest): Promise<SpoolPage> {
  const over = request.over === true;
  const wanted = Number.isSafeInteger(request.cursor) && request.cursor > 0 ? request.cursor : 0;
  const limit = Math.min(MAX_PAGE_BYTES, Math.max(MIN_PAGE_BYTES, Math.trunc(request.max_bytes) || 0));
  const index = await openIfThere(`${folder}/${INDEX_FILE}`);
  if (index === undefined) return { cursor: 0, next_cursor: 0, chunks: [], end: over, dropped_bytes: 0 };
  try {
    const log = await openIfThere(`${folder}/${LOG_FILE}`);
    try {
      return await readPage(index, log, wanted, limit, over);
    } finally {
      await log?.close();
    }
  } finally {
    await index.close();
  }
}

async function readPage(index: FileHandle, log: FileHandle | undefined, wanted: number, limit: number, over: boolean): Promise<SpoolPage> {
  const records = Math.floor((await index.stat()).size / RECORD_BYTES);
  const trailer = await readTrailer(index, records);
  // Records are read before the size of the log, and the log was written first: what is indexed is there.
  const logSize = log === undefined ? 0 : (await log.stat()).size;
  const last = trailer.data === 0 ? undefined : await readStable(index, trailer.data - 1);
  const size = Math.min(last?.value ?? 0, logSize);
  const ended = over || trailer.ended;
  const at = Math.min(wanted, size);
  if (log === undefined || at >= size) {
    return { cursor: at, next_cursor: at, chunks: [], end: ended, dropped_bytes: trailer.dropped };
  }

  let position = await findRecord(index, trailer.data, at);
  const stretchStart = position === 0 ? 0 : (await readStable(index, position - 1)).value;
  const cursor = at - (await bytesIntoCharacter(log, stretchStart, at));
  const buffer = Buffer.allocUnsafe(Math.min(limit, size - cursor));
  const got = await readFully(log, buffer, cursor);
  const chunks: { stream: 'stdout' | 'stderr'; text: string }[] = [];
  let next = cursor;
  while (next < cursor + got && position < trailer.data && chunks.length < MAX_CHUNKS) {
    const record = await readStable(index, position);
    const stretchEnd = Math.min(record.value, size);
    const available = Math.min(stretchEnd, cursor + got);
    let piece = buffer.subarray(next - cursor, available - cursor);
    // Cut by the page, not by the stretch: what doesn't fit whole waits for the next page.
    if (available < stretchEnd) piece = piece.subarray(0, piece.length - incompleteTail(piece));
    if (piece.length === 0) break;
    chunks.push({ stream: record.kind === KIND.stderr ? 'stderr' : 'stdout', text: decodeText(piece) });
    next += piece.length;
    if (next < stretchEnd) break;
    position++;
  }
  return { cursor, next_cursor: next, chunks, end: ended && next >= size, dropped_bytes: trailer.dropped };
}

/** The records behind the data: at most one about dropped bytes and one about the end. */
async function readTrailer(index: FileHandle, records: number): Promise<{ data: number; dropped: number; ended: boolean }> {
  let data = records;
  let dropped = 0;
  let ended = false;
  while (data > 0) {
    const record = await readStable(index, data - 1);
    if (record.kind !== KIND.dropped && record.kind !== KIND.end) break;
    if (record.kind === KIND.end) ended = true;
    dropped = Math.max(dropped, record.value);
    data--;
  }
  return { data, dropped, ended };
}

/** A record may be growing while it is read: it counts once it was seen twice. */
async function readStable(index: FileHandle, position: number): Promise<SpoolRecord> {
  const first = Buffer.alloc(RECORD_BYTES);
  const second = Buffer.alloc(RECORD_BYTES);
  for (let attempt = 0; attempt < 16; attempt++) {
    await readFully(index, first, position * RECORD_BYTES);
    await readFully(index, second, position * RECORD_BYTES);
    if (first.equals(second)) break;
  }
  return decodeRecord(second, 0);
}

/** The first data record whose stretch ends after `cursor`. */
async function findRecord(index: FileHandle, count: number, cursor: number): Promise<number> {
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((await readStable(index, middle)).value > cursor) high = middle;
    else low = middle + 1;
  }
  return low;
}

async function bytesIntoCharacter(log: FileHandle, stretchStart: number, cursor: number): Promise<number> {
  const before = Buffer.alloc(Math.min(3, cursor - stretchStart));
  await readFully(log, before, cursor - before.length);
  const begun = incompleteTail(before);
  if (begun === 0) return 0;
  // A lead byte followed by something that doesn't continue it is an invalid byte of its own, not a character to go back for.
  const here = Buffer.alloc(1);
  await readFully(log, here, cursor);
  return ((here[0] ?? 0) & 0xc0) === 0x80 ? begun : 0;
}

async function readFully(file: FileHandle, into: Buffer, position: number): Promise<number> {
  let done = 0;
  while (done < into.length) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return done;
}

async function openIfThere(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
