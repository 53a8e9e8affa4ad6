import type { Context } from 'hono';
import { type AppError, errorEntry } from '../../kernel/errors.ts';

type Status = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 502 | 503 | 507;

export interface Problem {
  readonly status: Status;
  readonly code: string;
  /** What happened and why. */
  readonly detail: string;
  readonly fix?: string | undefined;
  /** Beside these: `problems` of an entry, what was said before it failed. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** RFC 9457. */
export function problem(c: Context, { status, code, detail, fix, more }: Problem): Response {
  const body = { type: 'about:blank', status, code, detail, ...(fix === undefined ? {} : { fix }), ...more };
  return c.body(JSON.stringify(body), status, { 'content-type': 'application/problem+json', 'cache-control': 'no-store' });
}

/** The one mapper of this edge. */
export function problemOf({ code, message, fix }: AppError): Problem {
  // The file that a person wrote is in the way of what was asked; this server is in order.
  const status = code === 'config_invalid' ? 409 : (errorEntry(code).http as Status);
  const detail = code === 'internal' ? 'An unexpected fault; the log says more.' : message;
  return { status, code, detail, fix };
}
