import { z } from 'zod';
import type { JsonSchema } from './tool.ts';

export type Parsed<T> = { readonly ok: true; readonly input: T } | { readonly ok: false; readonly problem: string };

/** What `tool.parse` answers: the first three problems, each naming its argument. Unknown arguments are a problem, since a misspelt limit would be silently ignored. */
export function parseWith<T>(schema: z.ZodType<T>, raw: unknown): Parsed<T> {
  const result = schema.safeParse(raw ?? {});
  if (result.success) return { ok: true, input: result.data };
  const problems = result.error.issues.slice(0, 3).map((issue) => {
    const where = issue.path.join('.').slice(0, 80);
    return where ? `${where}: ${issue.message}` : issue.message;
  });
  return { ok: false, problem: `Invalid arguments: ${problems.join('; ').slice(0, 600)}.` };
}

/** JSON Schema 2020-12 of a zod schema, as it goes over the wire: what a caller may send, defaults included. */
export function wireSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io, target: 'draft-2020-12' });
  return rest;
}
