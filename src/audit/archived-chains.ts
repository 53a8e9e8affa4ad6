import { type ArchiveHead, archiveSignatureHolds } from './archive-head.ts';
import { GENESIS, hex, sha256Hex } from './chain.ts';
import { START, type Standing } from './chain-walk.ts';
import type { Findings } from './findings.ts';
import type { PublicKey } from './key.ts';
import type { Signed } from './signed-heads.ts';

/** Where the archives end and the rows in the database have to begin, per chain. */
export function replayArchives(
  archives: readonly ArchiveHead[],
  signed: Signed,
  key: PublicKey | undefined,
  findings: Findings,
): ReadonlyMap<string, Standing> {
  const ends = new Map<string, Standing>();
  let before: ArchiveHead | undefined;
  for (const head of archives) {
    checkHead(head, before, key, findings);
    checkRanges(head, ends, signed, findings);
    before = head;
  }
  return ends;
}

function checkHead(head: ArchiveHead, before: ArchiveHead | undefined, key: PublicKey | undefined, findings: Findings): void {
  const { body } = head;
  const at = { archive: body.seq };
  const expected = before === undefined ? 0 : before.body.seq + 1;
  if (body.seq > expected) findings.add('archive_missing', 'is missing', { archive: expected });
  else if (body.seq < expected) findings.add('archive_doubled', 'is there more than once', at);
  else if (body.prev !== (before === undefined ? null : sha256Hex(before.line)))
    findings.add('archive_changed', 'does not follow from the one before it', at);
  if (key !== undefined && body.key !== key.fingerprint) findings.add('foreign_key', `was signed with another key (${body.key})`, at);
  else if (key !== undefined && !archiveSignatureHolds(head, key.key))
    findings.add('archive_changed', 'has a head whose signature does not hold', at);
}

/** What an archive begins with is what the one before it ended with, and what it ends with is what checkpoints signed. */
function checkRanges({ body }: ArchiveHead, ends: Map<string, Standing>, { heads }: Signed, findings: Findings): void {
  const at = { archive: body.seq };
  let rows = 0;
  for (const [chain, range] of Object.entries(body.chains)) {
    const from = ends.get(chain) ?? { ...START, organization: body.organization };
    const sealed = heads.get(chain);
    if (range.first > from.seq + 1) findings.add('row_missing', 'is in no archive and not in the database', { chain, seq: from.seq + 1 });
    else if (range.first !== from.seq + 1 || range.last < range.first)
      findings.add('archive_changed', `does not begin where chain ${chain} was left`, at);
    else if (range.before !== hex(from.hash)) findings.add('archive_changed', `does not follow from chain ${chain} as it was left`, at);
    if (range.last > (sealed?.last ?? -1)) findings.add('archive_changed', `holds rows of chain ${chain} that no checkpoint covers`, at);
    const signedHash = sealed?.hashes.get(range.last);
    if (signedHash !== undefined && signedHash !== range.after)
      findings.add('archive_changed', `ends chain ${chain} with another row than a checkpoint signed`, at);
    rows += range.last - range.first + 1;
    ends.set(chain, { organization: body.organization, seq: range.last, hash: hashOf(range.after) });
  }
  if (rows !== body.rows) findings.add('archive_changed', `counts ${body.rows} rows where its ranges make ${rows}`, at);
}

export function hashOf(text: string): Uint8Array {
  return /^[0-9a-f]{64}$/.test(text) ? Buffer.from(text, 'hex') : GENESIS;
}
