import { GENESIS, hex, OPENED, rowHash, sha256Hex } from './chain.ts';
import { type Checkpoint, signatureHolds } from './checkpoint.ts';
import type { Findings } from './findings.ts';
import type { PublicKey } from './key.ts';

/** A row as stored. */
export interface StoredRow {
  readonly chain: string;
  readonly seq: number;
  readonly bytes: string;
  readonly hash: Uint8Array;
}

/** Where a chain ended, as its rows say. */
export interface ChainEnd {
  readonly organization: string | undefined;
  readonly seq: number;
  readonly hash: string;
  /** The last row that a checkpoint covers; -1: none. */
  readonly sealed: number;
}

export interface Verified {
  readonly rows: number;
  readonly sealed: number;
  readonly chains: ReadonlyMap<string, ChainEnd>;
}

export interface Verifier {
  /** Rows come chain by chain, each from its first to its last. */
  row(row: StoredRow): void;
  finish(): Verified;
}

/**
 * The check itself, over nothing but stored bytes: every row against the one before it, every checkpoint against the one before it and its
 * signature, and every head that a checkpoint signed against the row that stands there.
 */
export function createVerifier(checkpoints: readonly Checkpoint[], key: PublicKey | undefined, findings: Findings): Verifier {
  const { heads, known } = replay(checkpoints, key, findings);
  const chains = new Map<string, ChainEnd>();
  let current: OpenChain | undefined;
  let rows = 0;
  let sealed = 0;

  const end = (): void => {
    if (current === undefined) return;
    const last = heads.get(current.chain)?.last ?? -1;
    if (last > current.seq) {
      findings.add('row_missing', `the chain ends at row ${current.seq}, but a checkpoint signed it up to row ${last}`, {
        chain: current.chain,
        seq: current.seq + 1,
      });
    }
    sealed += Math.min(last, current.seq) + 1;
    chains.set(current.chain, { organization: current.organization, seq: current.seq, hash: hex(current.hash), sealed: last });
  };

  return {
    row(row) {
      rows += 1;
      if (current?.chain !== row.chain) {
        end();
        current = { chain: row.chain, organization: undefined, seq: -1, hash: GENESIS };
      }
      checkRow(current, row, findings);
      if (row.seq === 0) current.organization = checkOpening(row, known, findings);
      const signed = heads.get(row.chain)?.hashes.get(row.seq);
      if (signed !== undefined && signed !== hex(row.hash)) {
        findings.add('row_changed', 'is not the row that a checkpoint signed', row);
      }
      current.seq = Math.max(row.seq, current.seq);
      // The next row is judged by the hash stored here, so that one bad row is one finding and not all that follow.
      current.hash = row.hash;
    },
    finish() {
      end();
      for (const [chain, signed] of heads) {
        if (!chains.has(chain)) {
          findings.add('chain_missing', `a checkpoint signed ${signed.last + 1} rows of this chain, and none is there`, { chain });
        }
      }
      return { rows, sealed, chains };
    },
  };
}

interface OpenChain {
  readonly chain: string;
  organization: string | undefined;
  seq: number;
  hash: Uint8Array;
}

function checkRow(current: OpenChain, row: StoredRow, findings: Findings): void {
  const expected = current.seq + 1;
  if (row.seq > expected) {
    const gap = row.seq - expected;
    findings.add('row_missing', gap === 1 ? 'is missing' : `and the ${gap - 1} after it are missing`, { chain: row.chain, seq: expected });
    return;
  }
  if (row.seq < expected) {
    findings.add('row_doubled', 'is there more than once', row);
    return;
  }
  if (hex(rowHash(current.hash, row.bytes)) !== hex(row.hash)) {
    findings.add(
      'row_changed',
      'is not what was recorded here: it, or the row before it, was changed, doubled or put in another place',
      row,
    );
  }
}

/** Row 0 must say that it opens this very chain, and the checkpoint it saw must still be there. Returns the chain's Organization. */
function checkOpening(row: StoredRow, known: ReadonlySet<string>, findings: Findings): string | undefined {
  const opening = openingOf(row.bytes);
  if (opening?.chain !== row.chain) {
    findings.add('row_changed', 'does not open this chain', row);
    return undefined;
  }
  if (opening.after !== undefined && !known.has(`${opening.organization} ${opening.after}`)) {
    findings.add('checkpoint_missing', 'names a checkpoint that it came after, and that checkpoint is not there', row);
  }
  return opening.organization;
}

function openingOf(bytes: string): { chain: unknown; organization: string; after: string | undefined } | undefined {
  try {
    const { type, organization, data } = JSON.parse(bytes);
    if (type !== OPENED || typeof organization !== 'string') return undefined;
    const after: unknown = data.after_checkpoint?.sha256;
    return { chain: data.chain, organization, after: typeof after === 'string' ? after : undefined };
  } catch {
    return undefined;
  }
}

/** Every head of one chain that was ever signed: row -> hash, and the furthest of them. */
interface SignedHeads {
  readonly hashes: Map<number, string>;
  last: number;
}

interface Replayed {
  readonly heads: ReadonlyMap<string, SignedHeads>;
  /** "organization hash" of every checkpoint line. */
  readonly known: ReadonlySet<string>;
}

/** Walks the checkpoints, which come sorted by Organization and then as they are stored. */
function replay(checkpoints: readonly Checkpoint[], key: PublicKey | undefined, findings: Findings): Replayed {
  const heads = new Map<string, SignedHeads>();
  const known = new Set<string>();
  let before: Checkpoint | undefined;
  let rows = 0;
  let chains = 0;
  for (const checkpoint of checkpoints) {
    const { body, line } = checkpoint;
    const at = { organization: body.organization, checkpoint: body.seq };
    if (before?.body.organization !== body.organization) {
      before = undefined;
      rows = 0;
      chains = 0;
    }
    const expected = before === undefined ? 0 : before.body.seq + 1;
    if (body.seq > expected) findings.add('checkpoint_missing', 'is missing', { ...at, checkpoint: expected });
    else if (body.seq < expected) findings.add('checkpoint_doubled', 'is there more than once', at);
    else if (body.prev !== (before === undefined ? null : sha256Hex(before.line))) {
      findings.add('checkpoint_changed', 'does not follow from the one before it', at);
    }
    if (key !== undefined && body.key !== key.fingerprint) findings.add('foreign_key', `was signed with another key (${body.key})`, at);
    else if (key !== undefined && !signatureHolds(checkpoint, key.key))
      findings.add('checkpoint_changed', 'has a signature that does not hold', at);
    for (const [chain, head] of Object.entries(body.heads)) {
      const signed = heads.get(chain) ?? { hashes: new Map<number, string>(), last: -1 };
      if (!heads.has(chain)) chains += 1;
      rows += head.seq - signed.last;
      signed.hashes.set(head.seq, head.hash);
      signed.last = Math.max(signed.last, head.seq);
      heads.set(chain, signed);
    }
    if (body.seq === expected && (body.rows !== rows || body.chains !== chains)) {
      findings.add('checkpoint_changed', `counts ${body.rows} rows in ${body.chains} chains where its heads make ${rows} in ${chains}`, at);
    }
    known.add(`${body.organization} ${sha256Hex(line)}`);
    before = checkpoint;
  }
  return { heads, known };
}
