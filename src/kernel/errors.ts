/**
 * One table for everything that can be refused or go wrong. Each edge (MCP, CLI, later HTTP) maps from here and from nowhere
 * else; a test walks the table. Expected outcomes of a command (exit 3, timed out) are values and are not in it.
 */
interface ErrorEntry {
  /** HTTP status of the same refusal. */
  readonly http: number;
  /** Exit code of the CLI. */
  readonly exit: number;
  /** JSON-RPC code where the protocol wants an error and not a tool result; undefined: always a tool result. */
  readonly rpc?: number;
  /** The identical request may succeed later without anybody changing anything. */
  readonly retryable: boolean;
  /** The person reading it can mend it (as against a fault of ours). */
  readonly fixable: boolean;
  /** One sentence for the model: what to do now. */
  readonly guidance: string;
}

export const ERRORS = {
  invalid_arguments: {
    http: 400,
    exit: 2,
    rpc: -32602,
    retryable: false,
    fixable: true,
    guidance: 'Correct the arguments as the message says and call again.',
  },
  unknown_tool: {
    http: 404,
    exit: 2,
    rpc: -32602,
    retryable: false,
    fixable: true,
    guidance: 'Call tools/list and use one of the names it gives.',
  },
  denied_by_policy: {
    http: 403,
    exit: 11,
    retryable: false,
    fixable: false,
    guidance: 'Do not retry or rephrase this command; find another way or tell the user what you wanted to do.',
  },
  denied_by_human: {
    http: 403,
    exit: 11,
    retryable: false,
    fixable: false,
    guidance: 'A person said no; respect the note and do not ask again for the same thing.',
  },
  no_channel: {
    http: 403,
    exit: 10,
    retryable: false,
    fixable: true,
    guidance: 'Nobody can be asked here; tell the user which command you need, and how they can be asked or allow it.',
  },
  approval_pending: {
    http: 202,
    exit: 10,
    retryable: true,
    fixable: true,
    guidance: 'Tell the user what waits for their answer, then make exactly the same call again; do not rephrase it.',
  },
  expired_unanswered: {
    http: 403,
    exit: 10,
    retryable: true,
    fixable: true,
    guidance: 'Nobody answered in time; tell the user and ask again only when they are there.',
  },
  backend_changed: {
    http: 409,
    exit: 1,
    retryable: true,
    fixable: false,
    guidance: 'What was approved is no longer what would run; look again and make a new request.',
  },
  containment_unavailable: {
    http: 503,
    exit: 12,
    retryable: false,
    fixable: true,
    guidance: 'Commands cannot run until the user applies the fix; other tools still work.',
  },
  backend_unavailable: {
    http: 503,
    exit: 12,
    retryable: false,
    fixable: true,
    guidance:
      'Commands cannot run in a container until the user applies the fix, and nothing else is used in its place; other tools still work.',
  },
  workspace_unavailable: {
    http: 409,
    exit: 2,
    retryable: false,
    fixable: true,
    guidance: 'Tell the user to add the --root line shown to the MCP configuration.',
  },
  not_found: { http: 404, exit: 2, retryable: false, fixable: true, guidance: 'List what exists and use one of those ids.' },
  file_refused: {
    http: 422,
    exit: 1,
    retryable: false,
    fixable: true,
    guidance: 'Nothing was read or changed; use another path or the way that the message names.',
  },
  edit_failed: {
    http: 409,
    exit: 1,
    retryable: false,
    fixable: true,
    guidance: 'Nothing was changed; read the file again and correct the edit as the message says.',
  },
  page_failed: {
    http: 502,
    exit: 1,
    retryable: false,
    fixable: true,
    guidance: 'Take a snapshot to see what the page is now; tell the user what was said here if it stays that way.',
  },
  never_started: {
    http: 503,
    exit: 1,
    retryable: true,
    fixable: false,
    guidance: 'Nothing of it ran; call again, and tell the user what was said here if that happens twice.',
  },
  outcome_unknown: {
    http: 502,
    exit: 1,
    retryable: false,
    fixable: false,
    guidance: 'It may have run; check its effects before doing it again.',
  },
  upstream_unavailable: {
    http: 503,
    exit: 1,
    retryable: true,
    fixable: true,
    guidance: 'This server is not connected just now; use other tools, and tell the user what is said about it.',
  },
  upstream_timeout: {
    http: 504,
    exit: 1,
    retryable: false,
    fixable: true,
    guidance: 'It may still be going on there; check its effects before doing it again.',
  },
  upstream_error: {
    http: 502,
    exit: 1,
    retryable: false,
    fixable: false,
    guidance: 'The server itself answered with an error; correct the call as it says, or go on without it.',
  },
  tool_unapproved: {
    http: 403,
    exit: 10,
    retryable: false,
    fixable: true,
    guidance: 'A person has to look at this tool first; tell the user which one you need and how it is approved.',
  },
  upstreams_not_ready: {
    http: 503,
    exit: 3,
    retryable: false,
    fixable: true,
    guidance: 'Nothing was started; tell the user which server or tool waits for them.',
  },
  cancelled: {
    http: 499,
    exit: 130,
    retryable: false,
    fixable: false,
    guidance: 'The request was cancelled; nothing of it is still running.',
  },
  busy: { http: 429, exit: 1, retryable: true, fixable: false, guidance: 'Wait for running calls or jobs to end, then call again.' },
  address_in_use: {
    http: 409,
    exit: 1,
    retryable: true,
    fixable: true,
    guidance: 'Tell the user that the address the server should listen on is taken.',
  },
  disk_full: {
    http: 507,
    exit: 1,
    retryable: true,
    fixable: true,
    guidance: 'Tell the user that the disk holding the Writ home is full; cancelling still works.',
  },
  config_invalid: { http: 500, exit: 78, retryable: false, fixable: true, guidance: 'Tell the user to run `writ config check`.' },
  store_unavailable: {
    http: 503,
    exit: 1,
    retryable: true,
    fixable: true,
    guidance: 'The record cannot be written, so nothing is run; tell the user.',
  },
  internal: {
    http: 500,
    exit: 70,
    rpc: -32603,
    retryable: false,
    fixable: false,
    guidance: 'This is a fault in Writ; tell the user and go on without this tool.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export function errorEntry(code: ErrorCode): ErrorEntry {
  return ERRORS[code];
}

/** A refusal or fault with its code. `message` says what happened and why, `fix` what a person does about it. */
export class AppError extends Error {
  override readonly name = 'AppError';
  readonly code: ErrorCode;
  readonly fix: string | undefined;
  readonly data: Readonly<Record<string, unknown>> | undefined;

  constructor(code: ErrorCode, message: string, more: { fix?: string; data?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.code = code;
    this.fix = more.fix;
    this.data = more.data;
  }
}

/** ENOENT and the like, where it is the system that refused. */
export function errnoOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}

/** Whatever was thrown, as an AppError: ours unchanged, the disk's by errno, everything else `internal`. */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown;
  const errno = errnoOf(thrown);
  if (errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new AppError('disk_full', 'No space is left on the disk that holds the Writ home.', {
      fix: 'Free some space, or move it with WRIT_HOME.',
      cause: thrown,
    });
  }
  return new AppError('internal', thrown instanceof Error ? thrown.message : String(thrown), { cause: thrown });
}
