import { sha256Hex } from './chain.ts';
import { type Checkpoint, signatureHolds } from './checkpoint.ts';
import type { Findings } from './findings.ts';
import type { PublicKey } from './key.ts';

/** Every head of one chain that was ever signed: row -> hash, and the furthest of them. */
export interface SignedHeads {
  readonly hashes: Map<number, string>;
  last: number;
}

export interface Signed {
  readonly heads: ReadonlyMap<string, SignedHeads>;
  /** "organization hash" of every checkpoint line. */
  readonly known: ReadonlySet<string>;
}

/** Walks the checkpoints, which come sorted by Organization and then as they are stored. */
export function replayCheckpoints(checkpoints: readonly Checkpoint[], key: PublicKey | undefined, findings: Findings): Signed {
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
