import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError, toAppError } from '../kernel/errors.ts';
import { sha256Hex } from './chain.ts';
import type { AuditEvent } from './types.ts';

/** Bytes of one event as stored. A bigger one keeps its place and says how much data was left out, and which (by digest). */
export const MAX_EVENT = 64 * 1024;

/** The stored form of an event. Throws AppError `internal` when it holds something that JSON can't (a fault of the caller). */
export function eventBytes(event: AuditEvent): string {
  try {
    const bytes = canonicalJson(ordered(event));
    // No character is more than three bytes.
    if (bytes.length * 3 <= MAX_EVENT || Buffer.byteLength(bytes) <= MAX_EVENT) return bytes;
    const data = canonicalJson(event.data);
    const cut = canonicalJson({ ...event, data: { omitted: { bytes: Buffer.byteLength(data), sha256: sha256Hex(data) } } });
    if (Buffer.byteLength(cut) <= MAX_EVENT) return cut;
  } catch (thrown) {
    throw new AppError('internal', `An audit event can't be recorded: ${thrown instanceof Error ? thrown.message : String(thrown)}.`, {
      cause: thrown,
    });
  }
  throw new AppError('internal', `An audit event can't be recorded: its names and ids alone are over ${MAX_EVENT} bytes.`);
}

/** The members of an event stand in the record in this order: given so, they need not be sorted. */
function ordered({ action, agent, at, data, organization, run, tool, type, workspace, ...others }: AuditEvent): object {
  return { action, agent, at, data, organization, run, tool, type, workspace, ...others };
}

/** The stored form of an event that must be recorded whatever it holds: what can't be stored is replaced by why. */
export function eventBytesAnyway(event: AuditEvent): string {
  try {
    return eventBytes(event);
  } catch (thrown) {
    const { type, at, organization, action } = event;
    const unrecordable = toAppError(thrown).message.slice(0, 1_000);
    return canonicalJson({ type: String(type), at, organization: String(organization), action, data: { unrecordable } });
  }
}
