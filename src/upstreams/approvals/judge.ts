import { difference } from './difference.ts';
import { PIN_FORMAT, type Pin } from './pin.ts';
import type { ToolRecord, UpstreamRecord } from './records.ts';
import type { Judgement } from './types.ts';

/** Pure: what the record says about an upstream or a tool as it is now. */

const NEW_FORMAT = 'This version of Writ pins more or other fields than the one that recorded it, so it asks once more.';

export function judgeServerRecord(record: UpstreamRecord | undefined, pin: Pin): Judgement {
  const known = record?.server;
  const { sha256 } = pin;
  if (known === undefined) {
    return {
      state: 'unknown',
      sha256,
      reason: 'A project file brought it in and nobody has approved it.',
      difference: difference(undefined, pin),
    };
  }
  if (known.state === 'denied') return { state: 'denied', sha256, reason: `Denied by ${known.by}.` };
  if (known.pin.sha256 === sha256) return { state: 'approved', sha256 };
  const reason = known.pin.format === PIN_FORMAT ? 'Its settings are not the ones that were approved.' : NEW_FORMAT;
  return { state: 'changed', sha256, reason, difference: difference(known.pin, pin) };
}

/** The first ones say enough. */
const MAX_FLAGS = 16;

export interface ToolFacts {
  readonly pin: Pin;
  /** Digest of what runs. */
  readonly backend: string;
  readonly needs_answer: boolean;
  /** What hardening said about it. */
  readonly flags: readonly string[];
  /** Why, when nobody answered. */
  readonly why: string;
}

/** `undefined` of `record`: never seen. */
export function judgeToolRecord(record: ToolRecord | undefined, { pin, backend, needs_answer, why }: ToolFacts): Judgement {
  const { sha256 } = pin;
  if (record === undefined) {
    return needs_answer ? { state: 'unknown', sha256, reason: why, difference: difference(undefined, pin) } : { state: 'approved', sha256 };
  }
  if (record.state === 'denied') return { state: 'denied', sha256, reason: `Denied by ${record.by ?? 'somebody'}.` };
  if (record.state === 'asked')
    return needs_answer ? { state: 'unknown', sha256, reason: why, difference: difference(undefined, pin) } : { state: 'approved', sha256 };
  const changed = (reason: string): Judgement => ({ state: 'changed', sha256, reason, difference: difference(record.pin, pin) });
  if (record.pin.format !== PIN_FORMAT) return changed(NEW_FORMAT);
  if (record.pin.sha256 !== sha256) return changed('It is not what it was when it was approved or first seen.');
  if (record.waiting !== undefined) {
    return {
      state: 'changed',
      sha256,
      reason: 'It changed and changed back; the difference shows what it was in between.',
      difference: difference(record.pin, record.waiting.pin),
    };
  }
  if (!needs_answer) return { state: 'approved', sha256 };
  if (record.state === 'seen') return { state: 'unknown', sha256, reason: why, difference: difference(undefined, pin) };
  if (record.backend !== backend) return changed('It is the same, but the server behind it is not the one it was approved with.');
  return { state: 'approved', sha256 };
}

/** The record after this sight, or undefined where nothing is to be written. */
export function afterSight(record: ToolRecord | undefined, name: string, facts: ToolFacts, at: number): ToolRecord | undefined {
  const { pin, backend, needs_answer } = facts;
  const sight = { at, backend, pin: copy(pin), ...(facts.flags.length === 0 ? {} : { flags: facts.flags.slice(0, MAX_FLAGS) }) };
  if (record === undefined) return { name, state: needs_answer ? 'asked' : 'seen', ...sight };
  const same = record.pin.sha256 === pin.sha256;
  const moved = needs_answer && record.backend !== backend;
  switch (record.state) {
    case 'denied':
      return undefined;
    case 'asked':
      // Nobody needs to answer any more: the operator took `require_approval` back, say.
      if (!needs_answer) return { name, state: 'seen', ...sight };
      return same && !moved ? undefined : { name, state: 'asked', ...sight };
    case 'seen':
    case 'approved': {
      const { waiting } = record;
      // Only seen so far, and from now on it needs an answer: the operator set `require_approval`, say.
      if (same && waiting === undefined && needs_answer && record.state === 'seen') return { name, state: 'asked', ...sight };
      // Back to what is pinned: what it was in between stays in the record until somebody answers.
      if (same && (waiting !== undefined || !moved)) return undefined;
      if (waiting?.pin.sha256 === pin.sha256 && waiting.backend === backend) return undefined;
      return { ...record, waiting: sight };
    }
  }
}

/** The record after a yes to what has this digest, or undefined where that is not what there is. */
export function afterYes(record: ToolRecord | undefined, sha256: string, by: string, at: number): ToolRecord | undefined {
  if (record === undefined) return undefined;
  const { name, waiting, ...pinned } = record;
  if (waiting?.pin.sha256 === sha256) return { name, ...waiting, state: 'approved', at, by };
  if (pinned.pin.sha256 === sha256) return { name, ...pinned, state: 'approved', at, by };
  return undefined;
}

/** Records are changed in place by their owner, pins never. */
function copy(pin: Pin): ToolRecord['pin'] {
  return { format: pin.format, sha256: pin.sha256, fields: pin.fields.map((field) => ({ ...field })) };
}
