import { z } from 'zod';
import type { Execution } from '../execution/types.ts';
import { AppError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import { pageOnWire, pageShape, pageText } from './job-shapes.ts';
import { ANSWER_CHARS } from './output-text.ts';
import { fitPage, maskedText, readSpool, runOf } from './read-spool.ts';
import { readsOnly } from './reads-only.ts';
import { parseWith, wireSchema } from './schema.ts';
import type { Tool } from './tool.ts';

const input = z.strictObject({
  id: z.string().min(1).max(64).describe('The output_id of a shell result, or a job_id.'),
  cursor: z.int().min(0).default(0).describe('Byte position in both streams together; 0 is the start.'),
  max_bytes: z.int().min(1).max(ANSWER_CHARS).default(ANSWER_CHARS),
});

export function createShellOutput(execution: Execution, redactor: Redactor): Tool<z.infer<typeof input>> {
  return {
    name: 'shell_output',
    description: 'Read the full output of an earlier shell command in pages, by cursor. Use it when a shell result was truncated.',
    inputSchema: wireSchema(input, 'input'),
    outputSchema: wireSchema(pageShape, 'output'),
    annotations: {
      title: 'Read the output of a command',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    parse: (raw) => parseWith(input, raw),
    assess: () => readsOnly,
    run: async ({ id, cursor, max_bytes }, context) => {
      const read = (from: number, bytes: number): ReturnType<typeof readSpool> =>
        readSpool(execution, { id, cursor: from, max_bytes: bytes, owner: context.owner }, context.signal);
      const page = await fitPage(await read(cursor, max_bytes), (bytes) => read(cursor, bytes));
      if (!page) throw new AppError('not_found', `There is no output "${id}" here; output of a foreground command is kept for a day.`);
      const again = `shell_output {"id": "${id}", "cursor": CURSOR}`;
      const output = await maskedText(page, read, redactor);
      return {
        structured: pageOnWire(page, output),
        text: pageText(page, output, again),
        evidence: { id, cursor, next_cursor: page.next_cursor },
        ...(await runOf(execution, id)),
      };
    },
  };
}
