import type { KeyObject } from 'node:crypto';
import type { SigningKey } from './key.ts';
import { bodyOf, lineSignatureHolds, signLine } from './signed-line.ts';

const CONTEXT = 'writ-audit-checkpoint-v1';

/** What a checkpoint says about one Organization's record. */
export interface CheckpointBody {
  readonly v: 1;
  readonly organization: string;
  /** 0, 1, 2 ... in the Organization. */
  readonly seq: number;
  /** SHA-256 of the line before; null in the first. So one checkpoint vouches for all before it. */
  readonly prev: string | null;
  readonly at: number;
  /** Fingerprint of the signing key. */
  readonly key: string;
  /** The chains that grew since the checkpoint before: last row and its hash. Together with those before it: all heads. */
  readonly heads: Readonly<Record<string, { readonly seq: number; readonly hash: string }>>;
  /** How many chains and rows there are altogether. */
  readonly chains: number;
  readonly rows: number;
}

export interface Checkpoint {
  readonly body: CheckpointBody;
  /** Canonical JSON of the body and `sig`; one line of checkpoints.jsonl without its newline. */
  readonly line: string;
}

export function signCheckpoint(body: CheckpointBody, key: SigningKey): Checkpoint {
  return { body, line: signLine(CONTEXT, body, key) };
}

export function signatureHolds({ line }: Checkpoint, key: KeyObject): boolean {
  return lineSignatureHolds(CONTEXT, line, key);
}

/** The checkpoint of a line, or undefined when it isn't one, byte for byte as we write them. */
export function parseCheckpoint(line: string): Checkpoint | undefined {
  const body = bodyOf(line);
  return body !== undefined && isBody(body) ? { body, line } : undefined;
}

function isBody(value: Record<string, unknown>): value is Record<string, unknown> & CheckpointBody {
  const { v, organization, seq, prev, at, key, heads, chains, rows } = value;
  return (
    v === 1 &&
    typeof organization === 'string' &&
    [seq, at, chains, rows].every(Number.isSafeInteger) &&
    (prev === null || typeof prev === 'string') &&
    typeof key === 'string' &&
    typeof heads === 'object' &&
    heads !== null &&
    Object.values(heads).every(isHead)
  );
}

function isHead(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    'seq' in value &&
    Number.isSafeInteger(value.seq) &&
    'hash' in value &&
    typeof value.hash === 'string'
  );
}
