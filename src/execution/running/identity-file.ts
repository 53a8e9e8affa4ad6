import { closeSync, fsyncSync, linkSync, lstatSync, openSync, readFileSync, unlinkSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';
import type { ProcessIdentity } from '../types.ts';
import { removeHidden, writeHidden } from './hidden-file.ts';

export const IDENTITY_FILE = 'identity.json';

/** In place of a PID namespace of its own, for a run without containment: no process is ever a member of it. */
export const NO_NAMESPACE = '';

/** What is written down before the token is sent: enough for any later process to find, judge and end the tree. */
export interface RunIdentity {
  readonly version: 1;
  readonly exec_id: string;
  /** The value of MARKER_VARIABLE in the environment of everything that waits at the gate. */
  readonly marker: string;
  readonly supervisor: ProcessIdentity;
  readonly outer: ProcessIdentity;
  readonly init: ProcessIdentity;
  /** `pid:[inode]`, or NO_NAMESPACE. */
  readonly pid_namespace: string;
  readonly cgroups: readonly string[];
  /**
   * 1, or 2 when a waiting sandbox died before it could take the command and a new one took its place. There is no other way to a second
   * record: whoever starts an execution again finds this file and is refused.
   */
  readonly generation: 1 | 2;
  readonly at: number;
}

/**
 * Fails when the file is there already, so that one execution never passes its gate twice. Whoever finds it empty or torn (the machine
 * lost power) knows that the token was never sent, since that comes after.
 */
export function writeIdentity(folder: string, identity: RunIdentity, durable: boolean): void {
  const hidden = writeHidden(folder, IDENTITY_FILE, `${JSON.stringify(identity)}\n`, durable);
  try {
    linkSync(hidden, `${folder}/${IDENTITY_FILE}`);
  } finally {
    removeHidden(hidden);
  }
  if (!durable) return;
  const directory = openSync(folder, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** Only when the sandbox it names is dead and provably ran nothing. */
export function withdrawIdentity(folder: string): void {
  unlinkSync(`${folder}/${IDENTITY_FILE}`);
}

/** `absent` and `torn` both mean: no user code ran. `unreadable` (a link that leads nowhere, a folder, not ours to read) tells nothing. */
export function readIdentity(folder: string): RunIdentity | 'absent' | 'torn' | 'unreadable' {
  const path = `${folder}/${IDENTITY_FILE}`;
  let text: string;
  try {
    // Most often it is asked before there is one, and an exception costs more than a look.
    const seen = lstatSync(path, { throwIfNoEntry: false });
    if (seen === undefined) return 'absent';
    if (!seen.isFile()) return 'unreadable';
    text = readFileSync(path, 'utf8');
  } catch (error) {
    return errnoOf(error) === 'ENOENT' ? 'absent' : 'unreadable';
  }
  try {
    const value: unknown = JSON.parse(text);
    return isRunIdentity(value) ? value : 'torn';
  } catch {
    return 'torn';
  }
}

function isRunIdentity(value: unknown): value is RunIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const record: Partial<Record<keyof RunIdentity, unknown>> = value;
  return (
    record.version === 1 &&
    typeof record.exec_id === 'string' &&
    typeof record.marker === 'string' &&
    typeof record.pid_namespace === 'string' &&
    isProcess(record.supervisor) &&
    isProcess(record.outer) &&
    isProcess(record.init)
  );
}

function isProcess(value: unknown): value is ProcessIdentity {
  if (typeof value !== 'object' || value === null) return false;
  const { pid, start, boot_id } = value as Partial<Record<keyof ProcessIdentity, unknown>>;
  return Number.isSafeInteger(pid) && typeof pid === 'number' && pid > 1 && typeof start === 'string' && typeof boot_id === 'string';
}
