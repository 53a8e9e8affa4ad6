import { createHash } from 'node:crypto';
import { z } from 'zod';
import { ANSWER_CHARS } from '../output-text.ts';
import { parseWith, wireSchema } from '../schema.ts';
import type { Tool, ToolOutput } from '../tool.ts';
import type { FileAccess, Found } from './access.ts';
import { contentKind, decodeText, SAMPLE_BYTES } from './content-kind.ts';
import { fileError } from './file-error.ts';
import { type Markers, unknownMarkers } from './markers.ts';
import { MAX_FILE_BYTES, readWhole } from './read-whole.ts';
import { recordedArguments } from './recorded-arguments.ts';
import { type Edit, MAX_COUNTED, type Replaced, replace, STAGES } from './replace.ts';
import { shownEdits } from './shown-call.ts';
import { unifiedDiff } from './unified-diff.ts';
import { writeAtomically } from './write-atomically.ts';

const MAX_EDITS = 100;
const MAX_STRING_BYTES = 1024 * 1024;

const piece = z
  .string()
  .refine((text) => Buffer.byteLength(text) <= MAX_STRING_BYTES, 'must be at most 1 MiB')
  .refine((text) => text.isWellFormed(), 'contains half of a character (a lone surrogate), which no file can hold');
const edit = z.strictObject({
  old_string: piece.describe('Text of the file, with enough around it to be there exactly once.'),
  new_string: piece.describe('What stands there afterwards; empty to delete it.'),
  replace_all: z.boolean().default(false).describe('Replace every place.'),
});

const input = z.strictObject({
  path: z.string().min(1).describe('File to edit: relative to the Workspace, absolute, or ~/ for the private HOME.'),
  edits: z
    .array(edit)
    .min(1)
    .max(MAX_EDITS)
    .describe('One after the other, each on the result of the one before; all of them or none.')
    .optional(),
  old_string: edit.shape.old_string.optional(),
  new_string: edit.shape.new_string.optional(),
  replace_all: z.boolean().optional(),
});

const output = z.object({
  path: z.string(),
  diff: z.string().describe('Unified diff of what was changed.'),
  added: z.int(),
  removed: z.int(),
  edits: z.array(z.object({ stage: z.enum(STAGES).describe('How the old text was found.'), replacements: z.int() })),
  bytes: z.int(),
  truncated: z.boolean().describe('The diff is not shown whole.'),
});

interface Call {
  readonly path: string;
  readonly edits: readonly Edit[];
}

export function createPatch(access: FileAccess, markers: Markers): Tool<Call> {
  const uses = (path: string) => [{ access: 'read', path } as const, { access: 'write', path } as const];
  return {
    name: 'patch',
    description:
      'Edit a file: replace old_string by new_string, once or in several edits that all apply or none. The old text is looked for exactly, then whatever its line endings, ' +
      'then whatever blanks end its lines, then whatever its indentation; it must be there exactly once, and the answer says how it was found. The rest of the file stays byte for byte.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(output, 'output'),
    annotations: { title: 'Edit a file', readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: false },
    parse: (raw) => {
      const parsed = parseWith(input, raw);
      if (!parsed.ok) return parsed;
      const { path, edits, old_string, new_string, replace_all } = parsed.input;
      const single = old_string !== undefined && new_string !== undefined;
      const some = [old_string, new_string, replace_all].some((given) => given !== undefined);
      if (edits !== undefined && !some) return { ok: true, input: { path, edits } };
      if (edits === undefined && single)
        return { ok: true, input: { path, edits: [{ old_string, new_string, replace_all: replace_all ?? false }] } };
      const problem = edits === undefined ? 'old_string and new_string, or edits, are needed' : 'edits and old_string exclude each other';
      return { ok: false, problem: `Invalid arguments: ${problem}.` };
    },
    assess: ({ path }, context) => access.assess('patch', uses(path), context),
    recorded: recordedArguments,
    show: ({ path, edits }, context) => shownEdits(path, edits, context),
    run: (call, context, decision) =>
      access.reach('patch', uses(call.path), { path: call.path, access: 'write' }, context, decision, (found) =>
        patch(found, call.edits, markers, context.signal),
      ),
  };
}

async function patch(found: Found, edits: readonly Edit[], markers: Markers, signal: AbortSignal): Promise<ToolOutput> {
  const before = found.exists ? await readWhole(found, signal) : undefined;
  if (before === undefined) throw fileError('not_found', `${found.path} does not exist.`, 'Make it with write_file.');
  checkSuitable(found, before.bytes);
  const known = decodeText(before.bytes, 'utf-8');
  const original = before.bytes.toString('latin1');
  const done: { stage: (typeof STAGES)[number]; replacements: number }[] = [];
  let text = original;
  for (const [index, given] of edits.entries()) {
    const which = edits.length === 1 ? '' : `Edit ${index + 1} of ${edits.length}: `;
    const result = replace(text, withSecrets(given, known, markers));
    if (!result.ok) throw failed(result, which, found);
    if (result.text.length > MAX_FILE_BYTES)
      throw fileError('too_large', `${which}the file would be larger than 10 MiB.`, 'Make this change in the shell.');
    done.push({ stage: result.stage, replacements: result.replacements });
    text = result.text;
  }
  if (text === original) throw fileError('no_change', 'The edits together change nothing.');
  signal.throwIfAborted();
  const bytes = Buffer.from(text, 'latin1');
  writeAtomically(found, bytes, before.stat);
  return answer(found, original, text, done, markers);
}

function checkSuitable(found: Found, bytes: Buffer): void {
  if (bytes.length > MAX_FILE_BYTES)
    throw fileError('too_large', `${found.path} is larger than 10 MiB.`, 'Edit it in the shell, with sed for example.');
  const kind = contentKind(bytes.subarray(0, SAMPLE_BYTES));
  if (kind.type !== 'text') throw fileError('binary', `${found.path} is not text.`, 'Edit it in the shell.');
  if (kind.encoding === 'utf-16le' || kind.encoding === 'utf-16be') {
    throw fileError(
      'encoding',
      `${found.path} is ${kind.encoding.toUpperCase()}, and patch edits UTF-8.`,
      'Convert it in the shell first: iconv.',
    );
  }
}

/** Bytes as characters; markers of read_file stand for the secrets that the file has. */
function withSecrets(given: Edit, current: string, markers: Markers): Edit {
  const bytes = (text: string): string => {
    const restored = markers.restore(text, current);
    if (restored.unknown.length > 0) {
      const { message, fix } = unknownMarkers(restored.unknown);
      throw fileError('marker', message, fix);
    }
    return Buffer.from(restored.text, 'utf8').toString('latin1');
  };
  return { ...given, old_string: bytes(given.old_string), new_string: bytes(given.new_string) };
}

function failed(result: Extract<Replaced, { ok: false }>, which: string, { path }: Found): Error {
  switch (result.reason) {
    case 'not_found':
      return fileError('no_match', `${which}old_string is not in ${path}, not even with other line endings, blanks or indentation.`);
    case 'no_change':
      return fileError('no_change', `${which}it would change nothing: new_string is what is there.`);
    case 'too_repetitive':
      return fileError(
        'too_repetitive',
        `${which}the text repeats itself too much to be searched.`,
        'Use a longer old_string, or the shell.',
      );
    case 'not_unique': {
      const count = result.places >= MAX_COUNTED ? `at least ${MAX_COUNTED}` : result.places;
      return fileError(
        'not_unique',
        `${which}old_string is in ${path} ${count} times (${result.stage}), first at the lines ${result.lines.join(', ')}.`,
        'Add lines around it until it is unique, or set replace_all.',
        { stage: result.stage },
      );
    }
  }
}

function answer(
  found: Found,
  before: string,
  after: string,
  edits: readonly { readonly stage: (typeof STAGES)[number]; readonly replacements: number }[],
  markers: Markers,
): ToolOutput {
  const diff = unifiedDiff(found.path.replace(/^\//, ''), before, after);
  // Bytes again, now as people read them.
  const { text } = markers.mask(decodeText(Buffer.from(diff.text, 'latin1'), 'utf-8'));
  const shown = diff.too_large ? '[more was changed than a diff is made of; see `git diff` in the shell]\n' : cut(text);
  const bytes = Buffer.from(after, 'latin1');
  const how = edits.map(({ stage, replacements }) => (replacements === 1 ? stage : `${stage}, ${replacements} places`)).join('; ');
  return {
    structured: {
      path: found.path,
      diff: shown,
      added: diff.added,
      removed: diff.removed,
      edits: [...edits],
      bytes: bytes.length,
      truncated: diff.too_large || shown !== text,
    },
    text: `edited ${found.path}: +${diff.added} -${diff.removed} (found by: ${how})\n${shown}`,
    evidence: {
      path: found.path,
      bytes: bytes.length,
      previous_bytes: before.length,
      edits: edits.length,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    },
  };
}

function cut(diff: string): string {
  if (diff.length <= ANSWER_CHARS) return diff;
  const end = diff.lastIndexOf('\n', ANSWER_CHARS);
  const kept = diff.slice(0, end === -1 ? ANSWER_CHARS : end);
  const left = diff.length - kept.length;
  return `${kept}\n[... ${left} characters of the diff left out; see the file with read_file, or \`git diff\` in the shell ...]\n`;
}
