import { createHash } from 'node:crypto';
import { z } from 'zod';
import { AppError, errnoOf } from '../../kernel/errors.ts';
import { parseWith, wireSchema } from '../schema.ts';
import type { Tool, ToolOutput } from '../tool.ts';
import type { FileAccess, Found } from './access.ts';
import { decodeText } from './content-kind.ts';
import { fileError } from './file-error.ts';
import { endingsOf } from './line-endings.ts';
import { type Markers, unknownMarkers } from './markers.ts';
import { MAX_FILE_BYTES, readWhole } from './read-whole.ts';
import { recordedArguments } from './recorded-arguments.ts';
import { shownWrite } from './shown-call.ts';
import { writeAtomically } from './write-atomically.ts';

const MAX_CONTENT_BYTES = 1024 * 1024;

const input = z.strictObject({
  path: z
    .string()
    .min(1)
    .describe('File to write: relative to the Workspace, absolute, or ~/ for the private HOME. Missing folders are made.'),
  content: z
    .string()
    .refine((text) => Buffer.byteLength(text) <= MAX_CONTENT_BYTES, 'must be at most 1 MiB')
    .refine((text) => text.isWellFormed(), 'contains half of a character (a lone surrogate), which no file can hold')
    .describe('The whole new content, exactly as it is to be on disk (UTF-8).'),
});

const output = z.object({
  path: z.string(),
  created: z.boolean(),
  bytes: z.int(),
  previous_bytes: z.int().nullable(),
  sha256: z.string(),
  notes: z.array(z.string()),
});

export function createWriteFile(access: FileAccess, markers: Markers): Tool<z.infer<typeof input>> {
  return {
    name: 'write_file',
    description:
      'Make a file, or replace one as a whole (for a part of it use `patch`). Atomic: the old content or the new one, never half of it; mode and owner stay. ' +
      'Writes where `shell` can write: the Workspace, the private HOME and /tmp.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'Write a file', readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    parse: (raw) => parseWith(input, raw),
    assess: ({ path }, context) => access.assess('write_file', [{ access: 'write', path }], context),
    recorded: recordedArguments,
    show: ({ path, content }, context) => shownWrite(path, content, context),
    run: (call, context, decision) =>
      access.reach('write_file', [{ access: 'write', path: call.path }], { path: call.path, access: 'write' }, context, decision, (found) =>
        write(found, call.content, markers, context.signal),
      ),
  };
}

async function write(found: Found, content: string, markers: Markers, signal: AbortSignal): Promise<ToolOutput> {
  // Only for what is said about it, and for markers; what is there when it is replaced decides.
  const before = found.exists ? await readIfAllowed(found, signal) : undefined;
  const current = before === undefined || before.bytes.length > MAX_FILE_BYTES ? '' : decodeText(before.bytes, 'utf-8');
  const { text, unknown } = markers.restore(content, current);
  if (unknown.length > 0) {
    const { message, fix } = unknownMarkers(unknown);
    throw fileError('marker', message, fix);
  }
  const bytes = Buffer.from(text, 'utf8');
  // Secrets that were put back came from this very file, as it was.
  const { created } = writeAtomically(found, bytes, text === content ? undefined : before?.stat);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const notes = before === undefined ? [] : notesOf(current, text);
  const previous_bytes = before?.stat.size ?? null;
  const said = created
    ? `made ${found.path} (${bytes.length} bytes)`
    : `wrote ${found.path} (${bytes.length} bytes, before ${previous_bytes ?? 'unknown'})`;
  return {
    structured: { path: found.path, created, bytes: bytes.length, previous_bytes: created ? null : previous_bytes, sha256, notes },
    text: [said, ...notes.map((note) => `[${note}]`)].join('\n'),
    evidence: { path: found.path, created, bytes: bytes.length, previous_bytes, sha256 },
  };
}

/** A file that may be written and not read is still replaced. */
async function readIfAllowed(found: Found, signal: AbortSignal): ReturnType<typeof readWhole> {
  try {
    return await readWhole(found, signal);
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.data?.['reason'] === 'permission') return undefined;
    if (errnoOf(thrown) === 'EACCES') return undefined;
    throw thrown;
  }
}

function notesOf(before: string, after: string): string[] {
  const [old, fresh] = [endingsOf(before), endingsOf(after)];
  const notes = old === 'crlf' && fresh === 'lf' ? ['the lines ended in CRLF before and end in LF now'] : [];
  return before.startsWith('\ufeff') && !after.startsWith('\ufeff') ? [...notes, 'the byte order mark is gone'] : notes;
}
