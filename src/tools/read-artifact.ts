import { z } from 'zod';
import { AppError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import type { Artifact, ArtifactPage, ArtifactStore } from '../upstreams/index.ts';
import { ANSWER_CHARS, ANSWER_LINES, linesIn } from './output-text.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { Tool, ToolOutput } from './tool.ts';

/** With base64 around it, what models take. */
const MAX_IMAGE_BYTES = 3_750_000;
/** Of what is no text; in base64 it is as much as a page of text. */
const BINARY_PAGE_BYTES = 18_000;
/** Looked at around a page: more than any one-line secret, and most of a private key. */
const BEFORE = 8_192;
const AFTER = 2_048;

const input = z.strictObject({
  id: z.string().min(1).max(64).describe('art_..., as a result named it.'),
  cursor: z.int().min(0).default(0).describe('Byte position; 0 is the start.'),
  max_bytes: z.int().min(4).max(ANSWER_CHARS).default(ANSWER_CHARS),
});

const output = z.object({
  id: z.string(),
  server: z.string().describe('The MCP server that it came from.'),
  tool: z.string(),
  media_type: z.string(),
  total_bytes: z.int(),
  cursor: z.int(),
  next_cursor: z.int().nullable(),
  encoding: z.enum(['text', 'base64', 'image']).describe('image: it is shown as a picture beside this, and `content` is empty.'),
  content: z.string(),
});
type Structured = z.infer<typeof output>;
type Unlabelled = ToolOutput & { readonly structured: Structured };

export interface ReadArtifactParts {
  readonly store: ArtifactStore;
  readonly redactor: Redactor;
  /** What stands behind text of this server. */
  labelOf(server: string): string;
}

/** What the results of MCP servers were too large for, or only referred to. */
export function createReadArtifact({ store, redactor, labelOf }: ReadArtifactParts): Tool<z.infer<typeof input>> {
  const labelled = (output: Unlabelled): ToolOutput => ({ ...output, text: `${output.text}\n${labelOf(output.structured.server)}` });
  return {
    name: 'read_artifact',
    description:
      'Read in pages what the result of an MCP server was too large for, or a file that it referred to. Use it when a result names an artifact (art_...).',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'Read an artifact', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    run: async ({ id, cursor, max_bytes }, context) => {
      const read = (from: number, bytes: number): ReturnType<ArtifactStore['read']> =>
        store.read(context.owner, id, { cursor: from, max_bytes: bytes }, context.signal);
      const found = await fitting(read, cursor, max_bytes);
      if (found === undefined) {
        throw new AppError('not_found', `There is no artifact "${id}" here; artifacts are kept for a day.`, {
          fix: 'Call the tool that made it again.',
        });
      }
      if (found.page.content.type !== 'text') return labelled(await binaryAnswer(found.artifact, cursor, read));
      const text = await masked(found.page, read, redactor);
      return labelled(answer(found.artifact, found.page, { encoding: 'text', content: text }, text));
    },
  };
}

type Read = (from: number, bytes: number) => ReturnType<ArtifactStore['read']>;
interface Found {
  readonly artifact: Artifact;
  readonly page: ArtifactPage;
}

/** A page that is short enough to be shown whole. */
async function fitting(read: Read, cursor: number, max_bytes: number): Promise<Found | undefined> {
  for (let bytes = max_bytes; ; bytes = Math.max(ANSWER_LINES, Math.floor(bytes / 2))) {
    const found = await read(cursor, bytes);
    const content = found?.page.content;
    if (content?.type !== 'text' || linesIn(content.text) <= ANSWER_LINES || bytes <= ANSWER_LINES) return found;
  }
}

/** A secret that goes across an edge of the page is seen whole with what stands beside it. */
async function masked(page: ArtifactPage, read: Read, redactor: Redactor): Promise<string> {
  const from = Math.max(0, page.cursor - BEFORE);
  const before = page.cursor === 0 ? undefined : await read(from, page.cursor - from);
  const after = page.next_cursor === undefined ? undefined : await read(page.next_cursor, AFTER);
  return redactor.part(
    before?.page.next_cursor === page.cursor ? textOf(before) : '',
    page.content.type === 'text' ? page.content.text : '',
    textOf(after),
  );
}

function textOf(found: Found | undefined): string {
  return found?.page.content.type === 'text' ? found.page.content.text : '';
}

/** A picture is shown; anything else is base64, for programs. */
async function binaryAnswer(artifact: Artifact, cursor: number, read: Read): Promise<Unlabelled> {
  const { id, media_type, bytes } = artifact;
  const page = (await read(cursor, BINARY_PAGE_BYTES))?.page;
  if (page?.content.type !== 'base64') throw gone();
  if (!media_type.startsWith('image/') || cursor > 0 || bytes > MAX_IMAGE_BYTES) {
    return answer(artifact, page, { encoding: 'base64', content: page.content.data }, page.content.data);
  }
  const data = await wholeOf(read, bytes);
  const { next_cursor: _, ...whole } = page;
  const shown = answer(artifact, whole, { encoding: 'image', content: '' }, `${id}: ${media_type}, ${bytes} bytes`);
  return { ...shown, images: [{ mime_type: media_type, data: data.toString('base64') }] };
}

function gone(): AppError {
  return new AppError('not_found', 'The artifact was taken away while it was read.');
}

async function wholeOf(read: Read, bytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let cursor: number | undefined = 0; cursor !== undefined; ) {
    const found: Found | undefined = await read(cursor, bytes);
    if (found === undefined) throw gone();
    const { content, next_cursor }: ArtifactPage = found.page;
    pieces.push(Buffer.from(content.type === 'base64' ? content.data : '', 'base64'));
    cursor = next_cursor;
  }
  return Buffer.concat(pieces);
}

function answer(artifact: Artifact, page: ArtifactPage, shown: Pick<Structured, 'encoding' | 'content'>, text: string): Unlabelled {
  const { id, server, tool, media_type } = artifact;
  const { cursor, total_bytes, next_cursor } = page;
  const more =
    next_cursor === undefined
      ? ''
      : `\n[bytes ${cursor}-${next_cursor} of ${total_bytes}; read on with read_artifact {"id": "${id}", "cursor": ${next_cursor}}]`;
  return {
    structured: { id, server, tool, media_type, total_bytes, cursor, next_cursor: next_cursor ?? null, ...shown },
    text: text + more,
    evidence: { id, cursor, next_cursor: next_cursor ?? null, total_bytes },
    origins: [`mcp:${server}`],
  };
}
