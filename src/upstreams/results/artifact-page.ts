import type { FileHandle } from 'node:fs/promises';

/** A piece of an artifact. */
export interface ArtifactPage {
  readonly media_type: string;
  readonly total_bytes: number;
  /** Where it begins: at the cursor that was asked for, or behind the rest of a character that it pointed into. */
  readonly cursor: number;
  /** Where to read on; absent at the end. */
  readonly next_cursor?: number;
  /** Text is never cut inside a character; what is no text comes as base64. */
  readonly content: { readonly type: 'text'; readonly text: string } | { readonly type: 'base64'; readonly data: string };
}

/** Most of one page, whatever is asked for. */
const MAX_PAGE_BYTES = 1024 ** 2;
/** A character may take so many, and nothing smaller can be read for certain. */
const MIN_PAGE_BYTES = 4;

export async function readPage(
  handle: FileHandle,
  { media_type, total_bytes }: Pick<ArtifactPage, 'media_type' | 'total_bytes'>,
  request: { readonly cursor: number; readonly max_bytes: number },
): Promise<ArtifactPage> {
  const text = isText(media_type);
  const most = Math.min(Math.max(request.max_bytes, MIN_PAGE_BYTES), MAX_PAGE_BYTES);
  const from = Math.min(Math.max(request.cursor, 0), total_bytes);
  const bytes = await readBytes(handle, from, Math.min(most, total_bytes - from));
  const atEnd = from + bytes.length >= total_bytes;
  const start = text && from > 0 ? restOfCharacter(bytes) : 0;
  const end = text && !atEnd ? lastWhole(bytes, start) : bytes.length;
  const piece = bytes.subarray(start, end);
  const next = from + end;
  return {
    media_type,
    total_bytes,
    cursor: from + start,
    ...(next < total_bytes ? { next_cursor: next } : {}),
    content: text ? { type: 'text', text: piece.toString('utf8') } : { type: 'base64', data: piece.toString('base64') },
  };
}

async function readBytes(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await handle.read(bytes, done, length - done, from + done);
    if (bytesRead === 0) break;
    done += bytesRead;
  }
  return bytes.subarray(0, done);
}

function isText(media_type: string): boolean {
  return /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|javascript|toml|sql)\b|\+xml\b/i.test(media_type);
}

/** Bytes at the start that belong to a character before it. */
function restOfCharacter(bytes: Buffer): number {
  let at = 0;
  while (at < 3 && at < bytes.length && isContinuation(bytes[at])) at++;
  return at;
}

/** The end of the last character that is there as a whole; bytes that are no UTF-8 are all let through. */
function lastWhole(bytes: Buffer, start: number): number {
  for (let back = 1; back <= 3 && bytes.length - back >= start; back++) {
    const byte = bytes[bytes.length - back] ?? 0;
    if (isContinuation(byte)) continue;
    const needed = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    const cut = bytes.length - back;
    return needed > back && cut > start ? cut : bytes.length;
  }
  return bytes.length;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
