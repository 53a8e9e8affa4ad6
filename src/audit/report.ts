import type { Finding, Findings } from './findings.ts';
import type { PublicKey } from './key.ts';
import type { Verified } from './verifier.ts';
import type { ArchivesReport } from './verify-archives.ts';

export interface VerifyReport {
  /** Nothing was found wrong. What could not be looked at is in `cannot_prove`. */
  readonly ok: boolean;
  /** In the database and in archives. */
  readonly rows: number;
  readonly chains: number;
  readonly checkpoints: number;
  /** Rows that a signed checkpoint covers, and the rest. */
  readonly sealed: number;
  readonly unsealed: number;
  readonly archives: ArchivesReport;
  readonly key?: { readonly fingerprint: string; readonly public_key: string };
  /** The first bad row; where no row is bad, the first other finding. */
  readonly first?: Finding;
  /** At most 50, rows first; `findings_total` counts all. */
  readonly findings: readonly Finding[];
  readonly findings_total: number;
  /** What a good result does not say, in sentences. */
  readonly cannot_prove: readonly string[];
}

export function makeReport({
  verified,
  checkpoints,
  archives,
  key,
  findings,
}: {
  readonly verified: Verified;
  readonly checkpoints: number;
  readonly archives: ArchivesReport;
  readonly key: PublicKey | undefined;
  readonly findings: Findings;
}): VerifyReport {
  const sorted = findings.list.toSorted((a, b) => Number(a.seq === undefined) - Number(b.seq === undefined));
  const unsealed = verified.rows - verified.sealed;
  return {
    ok: findings.total === 0,
    rows: verified.rows,
    chains: verified.chains.size,
    checkpoints,
    sealed: verified.sealed,
    unsealed,
    archives,
    ...(key === undefined ? {} : { key: { fingerprint: key.fingerprint, public_key: key.text } }),
    ...(sorted[0] === undefined ? {} : { first: sorted[0] }),
    findings: sorted,
    findings_total: findings.total,
    cannot_prove: [...awayFrom(archives), ...limits(unsealed)],
  };
}

/** An archive may be kept elsewhere; then only its signed head is here, and that must be said. */
function awayFrom({ moved_away: { total, rows, files } }: ArchivesReport): string[] {
  if (total === 0) return [];
  const names = files.length < total ? `${files.join(', ')} and ${total - files.length} more` : files.join(', ');
  const what = total === 1 ? '1 archive was' : `${total} archives were`;
  return [
    `${what} moved away or removed (${names}): ${rows} rows were not looked at. Their signed heads are here and fit; put the files back into audit/archive to check what is in them.`,
  ];
}

/** Said every time: a check that hides its limits is believed too far. */
function limits(unsealed: number): string[] {
  const sentences = [
    'A power cut may have cost the last rows written since the last checkpoint; rows up to it were flushed to disk, and every row survives the death of any process.',
    'Whoever can read audit/key.pem and write the Writ home can forge a whole new record. Keep the key fingerprint and copies of audit/checkpoints.jsonl (or exports) elsewhere.',
    'A record cut back to an earlier checkpoint in the database and in checkpoints.jsonl together looks like a shorter record, unless a copy kept elsewhere shows more.',
    'It proves what was recorded, not that everything was: what ran outside Writ is not in it.',
  ];
  if (unsealed === 0) return sentences;
  const rows = unsealed === 1 ? '1 row comes' : `${unsealed} rows come`;
  return [
    `${rows} after the last checkpoint: chained, but not signed yet. Whoever can write the database could have rewritten or cut them. They are sealed every minute, every 1,000 rows and when a writer closes.`,
    ...sentences,
  ];
}
