import { close } from 'node:fs';
import { promisify } from 'node:util';
import { z } from 'zod';
import { parseWith, wireSchema } from '../schema.ts';
import type { Tool, ToolOutput } from '../tool.ts';
import type { FileAccess, Found } from './access.ts';
import { contentKind, decodeText, type Encoding, SAMPLE_BYTES } from './content-kind.ts';
import { fileError } from './file-error.ts';
import { openForReading } from './handle.ts';
import { endingsOf } from './line-endings.ts';
import { MAX_PAGE_BYTES, numbered, type Page, pageOf, pageSize } from './line-page.ts';
import type { Markers } from './markers.ts';
import { countLines, readBytes } from './read-bytes.ts';

/** Read whole, so that a secret is seen from its first line on; of larger files only a stretch around the page. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;
/** What is looked at before the page of a large file: more than any one-line secret. */
const BEFORE_BYTES = 16 * 1024;
/** With base64 around it, what models take. */
const MAX_IMAGE_BYTES = 3_750_000;
const MAX_LIMIT = 100_000;

const closeFile = promisify(close);

const input = z.strictObject({
  path: z.string().min(1).describe('File to read: relative to the Workspace, absolute, or ~/ for the private HOME.'),
  offset: z.int().min(1).default(1).describe('First line, counted from 1.'),
  limit: z
    .int()
    .min(1)
    .max(MAX_LIMIT)
    .optional()
    .describe('Lines to read, up to 1 MiB. Without it: as many as fit into one answer (about 24000 characters).'),
});

const output = z.object({
  type: z.enum(['text', 'image']),
  path: z.string(),
  content: z.string().describe('Lines as "  NUMBER<tab>TEXT"; empty for an image.'),
  first_line: z.int(),
  last_line: z.int(),
  total_lines: z.int().nullable().describe('null: not counted, the file is larger than 512 MiB.'),
  total_bytes: z.int(),
  truncated: z.boolean().describe('There are more lines; read on with `next_offset`.'),
  next_offset: z.int().nullable(),
  encoding: z.string().nullable(),
  line_endings: z.enum(['none', 'lf', 'crlf', 'mixed']).nullable(),
  final_newline: z.boolean().nullable(),
  mime_type: z.string().nullable(),
  hidden_values: z.int().describe('Values shown as [redacted:KIND#ID]. write_file and patch put them back where the marker is kept.'),
  notes: z.array(z.string()),
});
type Structured = z.infer<typeof output>;

export function createReadFile(access: FileAccess, markers: Markers): Tool<z.infer<typeof input>> {
  return {
    name: 'read_file',
    description:
      'Read a text file with line numbers, or look at an image (PNG, JPEG, GIF, WebP). Sees what `shell` sees: the Workspace, the private HOME and /tmp, the system. ' +
      'Secrets appear as [redacted:KIND#ID]; keep such a marker as it is when you write the line back.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'Read a file', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: ({ path }, context) => access.assess('read_file', [{ access: 'read', path }], context),
    run: (call, context, decision) =>
      access.reach('read_file', [{ access: 'read', path: call.path }], { path: call.path, access: 'read' }, context, decision, (found) =>
        readFound(found, call, markers, context.signal),
      ),
  };
}

async function readFound(found: Found, call: z.infer<typeof input>, markers: Markers, signal: AbortSignal): Promise<ToolOutput> {
  const opened = openForReading(found.host, found.scene.as);
  if (opened.type === 'folder') {
    throw fileError(
      'folder',
      `${found.path} is a folder.`,
      `List it with search_files {"target": "files", "pattern": "*", "path": ${JSON.stringify(found.path)}} or \`ls\` in the shell.`,
    );
  }
  if (opened.type === 'other') throw fileError('not_a_file', `${found.path} is ${opened.what} and not a file.`);
  try {
    const sample = await readBytes(opened.fd, 0, SAMPLE_BYTES, signal);
    const kind = contentKind(sample);
    const { size } = opened.stat;
    if (kind.type === 'binary')
      throw fileError(
        'binary',
        `${found.path} is binary (${size} bytes).${kind.hint}`,
        'Look at it with `file`, `xxd` or `strings` in the shell.',
      );
    if (kind.type === 'image') return await imageAnswer(found, opened.fd, size, kind.mime_type, signal);
    return size <= MAX_WHOLE_BYTES
      ? wholeAnswer(found, await readBytes(opened.fd, 0, MAX_WHOLE_BYTES, signal), kind.encoding, call, markers)
      : await largeAnswer(found, opened.fd, size, kind.encoding, call, markers, signal);
  } finally {
    await closeFile(opened.fd);
  }
}

async function imageAnswer(found: Found, fd: number, size: number, mime_type: string, signal: AbortSignal): Promise<ToolOutput> {
  if (size > MAX_IMAGE_BYTES) {
    throw fileError(
      'too_large',
      `${found.path} is an image of ${size} bytes; at most ${MAX_IMAGE_BYTES} can be shown.`,
      'Make a smaller copy in the shell, in /tmp for example.',
    );
  }
  const bytes = await readBytes(fd, 0, MAX_IMAGE_BYTES, signal);
  return {
    structured: { ...NOTHING, type: 'image', path: found.path, total_bytes: bytes.length, mime_type } satisfies Structured,
    text: `${found.path}: ${mime_type}, ${bytes.length} bytes`,
    images: [{ mime_type, data: bytes.toString('base64') }],
    evidence: { path: found.path, bytes: bytes.length },
  };
}

const NOTHING: Omit<Structured, 'type' | 'path'> = {
  content: '',
  first_line: 0,
  last_line: 0,
  total_lines: null,
  total_bytes: 0,
  truncated: false,
  next_offset: null,
  encoding: null,
  line_endings: null,
  final_newline: null,
  mime_type: null,
  hidden_values: 0,
  notes: [],
};

type Call = z.infer<typeof input>;

function wholeAnswer(found: Found, bytes: Buffer, encoding: Encoding, { offset, limit }: Call, markers: Markers): ToolOutput {
  const text = decodeText(bytes, encoding);
  const masked = markers.mask(text);
  const page = pageOf(numbered(masked.text, 1, offset, masked.swallowed), pageSize(limit));
  const feeds = countFeeds(text);
  const total_lines = feeds + (text === '' || text.endsWith('\n') ? 0 : 1);
  return textAnswer(found, page, {
    total_lines,
    total_bytes: bytes.length,
    encoding,
    line_endings: endingsOf(text),
    final_newline: text === '' ? null : text.endsWith('\n'),
    hidden_values: masked.count,
    offset,
  });
}

async function largeAnswer(
  found: Found,
  fd: number,
  size: number,
  encoding: Encoding,
  { offset, limit }: Call,
  markers: Markers,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    throw fileError(
      'too_large',
      `${found.path} is ${encoding.toUpperCase()} text of ${size} bytes.`,
      `\`iconv -f ${encoding} -t utf-8\` it in the shell, into /tmp for example.`,
    );
  }
  const counted = await countLines(fd, offset, signal);
  const at = counted.offset;
  const from = at === undefined ? 0 : Math.max(0, at - BEFORE_BYTES);
  // One more byte than a page takes shows whether it ends inside a line.
  const stretch = at === undefined ? Buffer.alloc(0) : await readBytes(fd, from, at - from + MAX_PAGE_BYTES + 4, signal);
  const before = decodeText(stretch.subarray(0, (at ?? 0) - from), 'utf-8');
  const text = decodeText(stretch.subarray((at ?? 0) - from), 'utf-8');
  const masked = maskBehind(before, text, markers);
  const complete = from + stretch.length >= size;
  // The last line of the stretch may be cut by its end; it is the next page's.
  const page = pageOf(numbered(masked.text, offset, offset, masked.swallowed), pageSize(limit));
  // Of a line without an end in sight it isn't known how long it is.
  const shown = page.next === undefined && page.cut ? page.text.replace(/ \[\.\.\. (\d+ characters)/, ' [... at least $1') : page.text;
  const next = page.next ?? (complete || at === undefined ? undefined : Math.max(offset + 1, page.last));
  return textAnswer(
    found,
    { ...page, text: shown, next },
    {
      total_lines: counted.total ?? null,
      total_bytes: size,
      encoding,
      line_endings: text === '' ? null : endingsOf(text),
      final_newline: null,
      hidden_values: masked.count,
      offset,
    },
  );
}

/** Masks a stretch as what it is in the whole: a secret that begins before it is gone from it, too. */
function maskBehind(before: string, text: string, markers: Markers): ReturnType<Markers['mask']> {
  if (before === '') return markers.mask(text);
  const alone = markers.mask(before);
  const both = markers.mask(before + text);
  // Only what comes before is the same in both wherever no secret goes across the edge.
  if (both.text.startsWith(alone.text)) {
    const lines = countFeeds(alone.text);
    const swallowed = new Map([...both.swallowed].filter(([line]) => line >= lines).map(([line, count]) => [line - lines, count]));
    return { text: both.text.slice(alone.text.length), count: both.count - alone.count, swallowed };
  }
  let same = 0;
  while (same < alone.text.length && both.text[same] === alone.text[same]) same++;
  const start = Math.max(0, both.text.lastIndexOf('[redacted:', same));
  const line = countFeeds(both.text.slice(0, start));
  const later = new Map([...both.swallowed].filter(([at]) => at > line).map(([at, count]) => [at - line, count]));
  const rest = both.text.slice(start);
  const gone = countFeeds(text) - countFeeds(rest) - [...later.values()].reduce((sum, count) => sum + count, 0);
  return { text: rest, count: later.size + 1, swallowed: new Map([...later, [0, Math.max(0, gone)]]) };
}

function countFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

type TextFacts = Pick<Structured, 'total_lines' | 'total_bytes' | 'line_endings' | 'final_newline' | 'hidden_values'> & {
  readonly encoding: Encoding;
  readonly offset: number;
};

function textAnswer(found: Found, page: Page, facts: TextFacts): ToolOutput {
  const { offset, ...rest } = facts;
  const notes = notesOf(found, page, facts);
  const structured: Structured = {
    ...NOTHING,
    ...rest,
    type: 'text',
    path: found.path,
    content: page.text,
    first_line: page.first,
    last_line: page.last,
    truncated: page.next !== undefined || page.cut !== undefined,
    next_offset: page.next ?? null,
    notes,
  };
  return {
    structured,
    text: [page.text, ...notes.map((note) => `[${note}]`)].filter((line) => line !== '').join('\n'),
    evidence: { path: found.path, bytes: facts.total_bytes, first_line: page.first, last_line: page.last },
  };
}

/** Only what a reader of the lines alone wouldn't know. */
function notesOf(found: Found, page: Page, facts: TextFacts): string[] {
  const { total_lines, total_bytes, encoding, line_endings, hidden_values, offset } = facts;
  const of = total_lines === null ? `a file of ${total_bytes} bytes` : `${total_lines}`;
  const notes: string[] = [];
  if (total_bytes === 0) notes.push('the file is empty');
  else if (page.first === 0) notes.push(`nothing from line ${offset} on: the file has ${of} lines`);
  if (page.next !== undefined) {
    notes.push(
      `lines ${page.first}-${page.last} of ${of}; read on with read_file {"path": ${JSON.stringify(found.path)}, "offset": ${page.next}}`,
    );
  }
  if (page.cut) {
    const { line } = page.cut;
    notes.push(`line ${line} is too long to be shown whole; the rest: \`sed -n ${line}p FILE | cut -c START-END\` in the shell`);
  }
  if (encoding === 'utf-8-bom') notes.push('the file begins with a UTF-8 byte order mark; patch keeps it');
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    notes.push(`the file is ${encoding.toUpperCase()}; write_file would make it UTF-8 and patch can't edit it: use iconv in the shell`);
  }
  if (encoding === 'other-8-bit')
    notes.push('the file is not UTF-8: some bytes are shown as U+FFFD; patch keeps them where it changes nothing');
  if (line_endings === 'crlf') notes.push('lines end in CRLF; patch keeps that');
  if (line_endings === 'mixed') notes.push('some lines end in CRLF, some in LF');
  if (hidden_values > 0) notes.push(`${hidden_values} secret value(s) are shown as [redacted:KIND#ID]; keep the markers when you write`);
  return notes;
}
