import { GENESIS, hex, OPENED, rowHash } from './chain.ts';
import type { Findings } from './findings.ts';
import type { Signed } from './signed-heads.ts';

/** A row as stored. */
export interface StoredRow {
  readonly chain: string;
  readonly seq: number;
  readonly bytes: string;
  readonly hash: Uint8Array;
}

/** Where a chain stands after a row: its start is -1 and GENESIS. */
export interface Standing {
  readonly organization: string | undefined;
  readonly seq: number;
  readonly hash: Uint8Array;
}

export const START: Standing = { organization: undefined, seq: -1, hash: GENESIS };

/** Goes along the rows of one chain. */
export interface ChainWalk extends Standing {
  row(row: StoredRow): void;
}

/** Every row against the one before it, and against the checkpoints that signed it. */
export function walkChain(from: Standing, { heads, known }: Signed, findings: Findings): ChainWalk {
  const at = { ...from };
  return {
    get organization() {
      return at.organization;
    },
    get seq() {
      return at.seq;
    },
    get hash() {
      return at.hash;
    },
    row(row) {
      checkRow(at, row, findings);
      if (row.seq === 0) at.organization = checkOpening(row, known, findings);
      const signed = heads.get(row.chain)?.hashes.get(row.seq);
      if (signed !== undefined && signed !== hex(row.hash)) {
        findings.add('row_changed', 'is not the row that a checkpoint signed', row);
      }
      at.seq = Math.max(row.seq, at.seq);
      // The next row is judged by the hash stored here, so that one bad row is one finding and not all that follow.
      at.hash = row.hash;
    },
  };
}

function checkRow(current: Standing, row: StoredRow, findings: Findings): void {
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
