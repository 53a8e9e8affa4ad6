export type FindingKind =
  | 'row_changed'
  | 'row_missing'
  | 'row_doubled'
  | 'chain_missing'
  | 'head_changed'
  | 'checkpoint_changed'
  | 'checkpoint_missing'
  | 'checkpoint_doubled'
  | 'archive_changed'
  | 'archive_missing'
  | 'archive_doubled'
  | 'foreign_key'
  | 'key_missing'
  | 'file_damaged'
  | 'database_damaged'
  | 'database_missing';

export interface Finding {
  readonly kind: FindingKind;
  /** A sentence that names the place. */
  readonly message: string;
  readonly chain?: string;
  readonly seq?: number;
  readonly organization?: string;
  readonly checkpoint?: number;
  readonly archive?: number;
}

interface Place {
  readonly chain?: string;
  readonly seq?: number;
  readonly organization?: string;
  readonly checkpoint?: number;
  readonly archive?: number;
}

/** Findings kept; more are only counted. */
const MAX_FINDINGS = 50;

export interface Findings {
  readonly list: readonly Finding[];
  readonly total: number;
  add(kind: FindingKind, what: string, place?: Place): void;
}

export function createFindings(): Findings {
  const list: Finding[] = [];
  let total = 0;
  return {
    list,
    get total() {
      return total;
    },
    add(kind, what, { chain, seq, organization, checkpoint, archive } = {}) {
      total += 1;
      if (list.length >= MAX_FINDINGS) return;
      list.push({
        kind,
        message: `${subject({ chain, seq, organization, checkpoint, archive })} ${what}.`.trimStart(),
        ...(chain === undefined ? {} : { chain }),
        ...(seq === undefined ? {} : { seq }),
        ...(organization === undefined ? {} : { organization }),
        ...(checkpoint === undefined ? {} : { checkpoint }),
        ...(archive === undefined ? {} : { archive }),
      });
    },
  };
}

function subject({ chain, seq, organization, checkpoint, archive }: { [Name in keyof Place]: Place[Name] | undefined }): string {
  if (chain !== undefined) return seq === undefined ? `Chain ${chain}:` : `Row ${seq} of chain ${chain}`;
  if (checkpoint !== undefined) return `Checkpoint ${checkpoint} of ${organization ?? 'the record'}`;
  if (archive !== undefined) return `Archive ${archive}`;
  return '';
}
