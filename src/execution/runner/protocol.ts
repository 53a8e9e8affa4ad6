import { AppError, ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import type { ExecId, JobId } from '../../kernel/ids.ts';
import type { ExecutionConfig } from '../core-types.ts';
import type { ExecutionKind } from '../jobs/layout.ts';
import type { OutputView, ProbeResult, RunResult, WorkspaceBind } from '../types.ts';

/**
 * What a client (`writ mcp`, `writ run` ...) and its runner say to each other over Node's IPC channel. Executions themselves
 * travel as folders: the client writes the folder, the message only names it. The end of the channel is a message too: the
 * client is gone.
 */

/** Asked by the client, answered once each. */
export interface Requests {
  probe: { readonly ask: { readonly fresh: boolean }; readonly answer: ProbeResult };
  /** Answered when the command was let through the gate or never will be. */
  start: { readonly ask: { readonly kind: ExecutionKind; readonly id: ExecId | JobId }; readonly answer: null };
  view: { readonly ask: { readonly exec_id: ExecId }; readonly answer: OutputView };
  promote: { readonly ask: { readonly exec_id: ExecId; readonly job_id: JobId }; readonly answer: null };
}
export type RequestName = keyof Requests;

export type ToRunner =
  | { readonly type: 'configure'; readonly config: ExecutionConfig }
  | {
      [Name in RequestName]: { readonly type: 'request'; readonly seq: number; readonly name: Name; readonly ask: Requests[Name]['ask'] };
    }[RequestName]
  | { readonly type: 'write'; readonly exec_id: ExecId; readonly bytes: Uint8Array }
  | { readonly type: 'resize'; readonly exec_id: ExecId; readonly cols: number; readonly rows: number }
  | { readonly type: 'cancel'; readonly exec_id: ExecId; readonly reason: string }
  | { readonly type: 'warm'; readonly workspaces: readonly WorkspaceBind[] };

export type FromRunner =
  | { readonly type: 'answer'; readonly seq: number; readonly answer: Requests[RequestName]['answer'] }
  | { readonly type: 'failed'; readonly seq: number; readonly error: ErrorOnWire }
  /** A foreground run is over. Its result is in its folder too, unless the disk was full. */
  | { readonly type: 'ended'; readonly exec_id: ExecId; readonly result: RunResult };

export interface ErrorOnWire {
  readonly code: ErrorCode;
  readonly message: string;
  readonly fix?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

export function errorToWire(error: AppError): ErrorOnWire {
  return {
    code: error.code,
    message: error.message,
    ...(error.fix === undefined ? {} : { fix: error.fix }),
    ...(error.data === undefined ? {} : { data: error.data }),
  };
}

export function errorFromWire(wire: ErrorOnWire): AppError {
  const code = wire.code in ERRORS ? wire.code : 'internal';
  return new AppError(code, wire.message, {
    ...(wire.fix === undefined ? {} : { fix: wire.fix }),
    ...(wire.data === undefined ? {} : { data: { ...wire.data } }),
  });
}
