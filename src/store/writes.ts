import type { Session } from './statement.ts';

/**
 * A write: one synchronous function that runs in the writer thread, under a savepoint of a transaction that it shares with the others
 * of its group. It gets plain data (structured clone) and returns plain data; if it throws, only its own changes are undone.
 * A room declares its writes as an object of such functions, named `room.verb`, and main/writer-thread.ts hands them all to the thread.
 */
export type Writes = Readonly<Record<string, Write>>;

/** `many`, where there is one, does several of a group that follow each other: all of them, or it throws and each is done by itself. */
export type Write = ((session: Session, args: never) => unknown) & {
  readonly many?: (session: Session, args: readonly never[]) => readonly unknown[];
};

/** A write that is written for several at once. */
export function writeOfMany<Args, Value>(
  many: (session: Session, args: readonly Args[]) => readonly Value[],
): ((session: Session, args: Args) => Value) & { readonly many: typeof many } {
  return Object.assign((session: Session, args: Args): Value => many(session, [args])[0] as Value, { many });
}

/**
 * How durable the commit is. Both survive SIGKILL of every process; `full` also survives a power cut, and carries every earlier `normal`
 * write of the machine with it. A group commits at the highest level asked for in it.
 */
export type Level = 'full' | 'normal';

export interface WriteOptions {
  readonly level: Level;
  /** Must work on a full disk too (outcomes, cancel, revoke): the reserve is given up for it. */
  readonly essential?: boolean;
  /** Nobody waits for it: it goes with the next write that somebody waits for, or by itself a few milliseconds later. */
  readonly lazy?: boolean;
}

/** What the threads say to each other. One batch is under way at a time; results come back in its order. */
export interface WriteRequest extends WriteOptions {
  readonly name: string;
  readonly args: unknown;
}

export type WriteResult =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly fix?: string; readonly data?: Record<string, unknown> };

export type ToThread =
  | { readonly type: 'batch'; readonly writes: readonly WriteRequest[] }
  /** What lies in the write-ahead log goes into the database file; answered by no results. */
  | { readonly type: 'checkpoint' }
  | { readonly type: 'close' };

/** What the thread is started with. */
export interface ThreadSetup {
  readonly file: string;
  /** Bytes kept free for essential writes on a full disk; 0 keeps none. */
  readonly reserve: number;
}
