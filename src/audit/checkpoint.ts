import { type KeyObject, sign, verify } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { SigningKey } from './key.ts';

/** Keeps a signature made here from meaning anything elsewhere. */
const CONTEXT = 'writ-audit-checkpoint-v1\n';

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
  const sig = sign(null, signed(body), key.private).toString('base64');
  return { body, line: canonicalJson({ ...body, sig }) };
}

export function signatureHolds({ body, line }: Checkpoint, key: KeyObject): boolean {
  const sig: unknown = JSON.parse(line).sig;
  if (typeof sig !== 'string') return false;
  const raw = Buffer.from(sig, 'base64');
  // Base64 has several spellings of the same bytes; only the one we write is ours.
  return raw.toString('base64') === sig && verify(null, signed(body), key, raw);
}

/** The checkpoint of a line, or undefined when it isn't one, byte for byte as we write them. */
export function parseCheckpoint(line: string): Checkpoint | undefined {
  try {
    const { sig, ...body } = JSON.parse(line);
    if (typeof sig !== 'string' || !isBody(body) || canonicalJson({ ...body, sig }) !== line) return undefined;
    return { body, line };
  } catch {
    return undefined;
  }
}

function signed(body: CheckpointBody): Buffer {
  return Buffer.from(CONTEXT + canonicalJson(body), 'utf8');
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
