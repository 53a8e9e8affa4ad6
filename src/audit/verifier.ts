import type { ArchiveHead } from './archive-head.ts';
import { hashOf, replayArchives } from './archived-chains.ts';
import { hex } from './chain.ts';
import { type ChainWalk, START, type Standing, type StoredRow, walkChain } from './chain-walk.ts';
import type { Checkpoint } from './checkpoint.ts';
import type { Findings } from './findings.ts';
import type { PublicKey } from './key.ts';
import { replayCheckpoints } from './signed-heads.ts';

/** Where a chain ended, as its rows and archives say. */
export interface ChainEnd {
  readonly organization: string | undefined;
  readonly seq: number;
  readonly hash: string;
  /** The last row that a checkpoint covers; -1: none. */
  readonly sealed: number;
  /** Where the archives end and the rows begin, and how many bytes these rows are. */
  readonly archived: Standing;
  readonly size: number;
  /** No row of it was found bad or missing, so that its size can be judged. */
  readonly whole: boolean;
}

export interface Verified {
  /** Archived ones included. */
  readonly rows: number;
  readonly sealed: number;
  readonly chains: ReadonlyMap<string, ChainEnd>;
}

export interface Verifier {
  /** The rows of an archive, in its order, before any other row. The signed ranges stand for archives that are not at hand. */
  archive(head: ArchiveHead, rows: Iterable<StoredRow>): void;
  /** Rows that are not archived come chain by chain, each from its first to its last. */
  row(row: StoredRow): void;
  finish(): Verified;
}

export interface Evidence {
  readonly checkpoints: readonly Checkpoint[];
  readonly archives: readonly ArchiveHead[];
  readonly key: PublicKey | undefined;
}

/**
 * The check itself, over nothing but stored bytes: every row against the one before it, every checkpoint and archive head against the one
 * before it and its signature, and every head that a checkpoint signed against the row that stands there.
 */
export function createVerifier({ checkpoints, archives, key }: Evidence, findings: Findings): Verifier {
  const signed = replayCheckpoints(checkpoints, key, findings);
  const archived = replayArchives(archives, signed, key, findings);
  const chains = new Map<string, ChainEnd>();
  let current: { readonly chain: string; readonly walk: ChainWalk; readonly findings: number; size: number } | undefined;
  let rows = archives.reduce((sum, { body }) => sum + body.rows, 0);
  let sealed = 0;

  const end = (chain: string, at: Standing, size: number, whole: boolean): void => {
    const last = signed.heads.get(chain)?.last ?? -1;
    if (last > at.seq) {
      const seq = at.seq + 1;
      findings.add('row_missing', `the chain ends at row ${at.seq}, but a checkpoint signed it up to row ${last}`, { chain, seq });
    }
    sealed += Math.min(last, at.seq) + 1;
    const { organization, seq, hash } = at;
    chains.set(chain, { organization, seq, hash: hex(hash), sealed: last, archived: archived.get(chain) ?? START, size, whole });
  };

  const endCurrent = (): void => {
    if (current !== undefined) end(current.chain, current.walk, current.size, findings.total === current.findings);
  };

  return {
    archive(head, held) {
      checkArchive(head, held, (from) => walkChain(from, signed, findings), findings);
    },
    row(row) {
      rows += 1;
      if (current?.chain !== row.chain) {
        endCurrent();
        const walk = walkChain(archived.get(row.chain) ?? START, signed, findings);
        current = { chain: row.chain, walk, findings: findings.total, size: 0 };
      }
      current.walk.row(row);
      current.size += Buffer.byteLength(row.bytes);
    },
    finish() {
      endCurrent();
      for (const [chain, standing] of archived) if (!chains.has(chain)) end(chain, standing, 0, true);
      for (const [chain, { last }] of signed.heads) {
        if (!chains.has(chain)) {
          findings.add('chain_missing', `a checkpoint signed ${last + 1} rows of this chain, and none is there`, { chain });
        }
      }
      return { rows, sealed, chains };
    },
  };
}

/** The rows of one archive against the ranges of its head. */
function checkArchive({ body }: ArchiveHead, rows: Iterable<StoredRow>, walk: (from: Standing) => ChainWalk, findings: Findings): void {
  const walks = new Map<string, ChainWalk>();
  for (const row of rows) {
    const range = Object.hasOwn(body.chains, row.chain) ? body.chains[row.chain] : undefined;
    if (range === undefined) {
      findings.add('row_doubled', `is in archive ${body.seq}, whose head knows nothing of it`, row);
      continue;
    }
    const from = { organization: body.organization, seq: range.first - 1, hash: hashOf(range.before) };
    const own = walks.get(row.chain) ?? walk(from);
    walks.set(row.chain, own);
    own.row(row);
    if (row.seq === 0 && own.organization !== body.organization)
      findings.add('archive_changed', `holds chain ${row.chain} of another Organization`, { archive: body.seq });
  }
  for (const [chain, { first, last, after }] of Object.entries(body.chains)) {
    const end = walks.get(chain);
    if (end === undefined || end.seq < last)
      findings.add('row_missing', `is not in archive ${body.seq}, which should hold it`, { chain, seq: (end?.seq ?? first - 1) + 1 });
    else if (end.seq > last) findings.add('row_doubled', `is in archive ${body.seq}, which ends before it`, { chain, seq: last + 1 });
    else if (hex(end.hash) !== after)
      findings.add('row_changed', `is not the row that the head of archive ${body.seq} ends with`, { chain, seq: last });
  }
}
