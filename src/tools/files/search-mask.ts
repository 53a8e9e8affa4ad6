import { closeSync } from 'node:fs';
import { join } from 'node:path';
import type { FilesScene } from '../../execution/types.ts';
import { contentKind, decodeText, SAMPLE_BYTES } from './content-kind.ts';
import { openForReading } from './handle.ts';
import { numbered } from './line-page.ts';
import type { Markers } from './markers.ts';
import { readBytes } from './read-bytes.ts';
import { resolvePath } from './resolve.ts';
import { type Hit, type HitResult, MAX_LINE_CHARS } from './search-hits.ts';

/** Read of one file, and of all together, to see secrets that go over several lines. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_ALL_BYTES = 16 * 1024 * 1024;
const INSIDE = '[inside a hidden value]';

interface Around {
  /** Where ripgrep started, as a run sees it. */
  readonly folder: string;
  readonly scene: FilesScene;
  readonly markers: Markers;
  readonly signal: AbortSignal;
}

export type MaskedResult = Omit<HitResult, 'matches' | 'context'> & {
  readonly matches: readonly Pick<Hit, 'path' | 'line' | 'text'>[];
  readonly context: readonly Pick<Hit, 'path' | 'line' | 'text'>[];
};

/**
 * Masks lines as they are in their file: one line of a private key doesn't look like a secret by itself. A file that is too large for
 * that is masked line by line.
 */
export async function maskHits(result: HitResult, around: Around): Promise<MaskedResult> {
  const files = new Map<string, ReadonlyMap<number, string> | undefined>();
  let budget = MAX_ALL_BYTES;
  const linesOf = async (name: string): Promise<ReadonlyMap<number, string> | undefined> => {
    if (files.has(name)) return files.get(name);
    const wanted = new Set([...result.matches, ...result.context].filter((hit) => hit.name === name).map(({ line }) => line));
    const bytes = budget > 0 ? await contentOf(join(around.folder, name), around) : undefined;
    budget -= bytes?.length ?? 0;
    const lines = bytes === undefined ? undefined : maskedLines(bytes, wanted, around.markers);
    files.set(name, lines);
    return lines;
  };
  const masked = async (hit: Hit): Promise<Pick<Hit, 'path' | 'line' | 'text'>> => {
    if (hit.line === 0) return { path: hit.path, line: 0, text: '' };
    const lines = await linesOf(hit.name);
    const text = lines === undefined ? around.markers.mask(hit.text).text : (lines.get(hit.line) ?? INSIDE);
    return { path: hit.path, line: hit.line, text: excerpt(text, hit) };
  };
  const all = async (hits: readonly Hit[]): Promise<Pick<Hit, 'path' | 'line' | 'text'>[]> => {
    const done: Pick<Hit, 'path' | 'line' | 'text'>[] = [];
    for (const hit of hits) done.push(await masked(hit));
    return done;
  };
  return { ...result, matches: await all(result.matches), context: await all(result.context) };
}

async function contentOf(path: string, { scene, signal }: Around): Promise<Buffer | undefined> {
  const found = resolvePath(scene, path);
  if (found.type !== 'seen') return undefined;
  let opened: ReturnType<typeof openForReading>;
  try {
    opened = openForReading(found.host, scene.as);
  } catch {
    // Gone or changed since it was searched: its lines are masked one by one.
    return undefined;
  }
  if (opened.type !== 'file') return undefined;
  try {
    return opened.stat.size > MAX_FILE_BYTES ? undefined : await readBytes(opened.fd, 0, MAX_FILE_BYTES, signal);
  } finally {
    closeSync(opened.fd);
  }
}

function maskedLines(bytes: Buffer, wanted: ReadonlySet<number>, markers: Markers): ReadonlyMap<number, string> {
  const kind = contentKind(bytes.subarray(0, SAMPLE_BYTES));
  const masked = markers.mask(decodeText(bytes, kind.type === 'text' ? kind.encoding : 'utf-8'));
  const lines = new Map<number, string>();
  for (const { number, text } of numbered(masked.text, 1, 1, masked.swallowed)) if (wanted.has(number)) lines.set(number, text);
  return lines;
}

/** A long line, cut around its match and counted. */
function excerpt(text: string, { at, text: raw }: Hit): string {
  if (text.length <= MAX_LINE_CHARS) return text;
  const before = Buffer.from(raw, 'utf8').subarray(0, at).toString('utf8').length;
  const from = Math.max(0, Math.min(before - MAX_LINE_CHARS / 4, text.length - MAX_LINE_CHARS));
  const kept = text.slice(from, from + MAX_LINE_CHARS).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '');
  return `${from > 0 ? `[... ${from} characters] ` : ''}${kept} [... ${text.length - from - kept.length} characters more]`;
}
