import type { Context } from 'hono';
import type * as z from 'zod';
import { problem } from './problem.ts';

const MAX_BODY_BYTES = 256 * 1024;
/** An entry needs five. What looks at a value goes into it as deep as it is, and the stack is not endless. */
const MAX_DEPTH = 64;

/** The body of a request, checked; or the answer that says what is wrong with it. An absent one is an empty object where `optional`. */
export async function readBody<T extends z.ZodType>(c: Context, schema: T, { optional = false } = {}): Promise<z.output<T> | Response> {
  const bytes = await bytesOf(c.req.raw);
  if (bytes === undefined) {
    return problem(c, { status: 413, code: 'invalid_arguments', detail: `A body may have ${MAX_BODY_BYTES} bytes.` });
  }
  if (bytes.length === 0 && optional) return check(c, schema, {});
  const type = c.req.header('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    return problem(c, { status: 415, code: 'invalid_arguments', detail: 'The body must be application/json.' });
  }
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return problem(c, { status: 400, code: 'invalid_arguments', detail: 'The body is no valid JSON.' });
  }
  if (isDeeper(value, MAX_DEPTH)) {
    return problem(c, { status: 400, code: 'invalid_arguments', detail: `The body is nested deeper than ${MAX_DEPTH}.` });
  }
  return check(c, schema, value);
}

function isDeeper(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return left === 0 || Object.values(value).some((each) => isDeeper(each, left - 1));
}

/** Undefined: more than may be, of which no more is read. */
async function bytesOf(request: Request): Promise<Uint8Array | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) return undefined;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function check<T extends z.ZodType>(c: Context, schema: T, value: unknown): z.output<T> | Response {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.slice(0, 20).map(({ path, message }) => ({ path: path.map(String).join('.'), message }));
  const [first] = problems;
  const detail = `The body is not as it must be: ${first?.path ? `"${first.path}": ` : ''}${first?.message ?? ''}`;
  return problem(c, { status: 400, code: 'invalid_arguments', detail, more: { problems } });
}
