import type { Clock } from '../kernel/clock.ts';
import type { Store } from '../store/index.ts';
import type { Retention } from './archive-due.ts';
import { auditDirectory } from './key.ts';
import type { AuditWrites } from './writes.ts';

export interface ArchiveSummary {
  readonly rows: number;
  readonly files: readonly string[];
  /** Chains that stay because their rows aren't what was recorded. */
  readonly refused: readonly string[];
}

export interface ArchiveNowParts {
  readonly store: Pick<Store<AuditWrites>, 'write'>;
  readonly home: string;
  readonly clock: Clock;
  readonly retention: Retention;
  readonly signal?: AbortSignal;
}

/** Archives step by step until nothing is due, beside other processes that write. What is done when the signal comes stays done. */
export async function archiveNow({ store, home, clock, retention, signal }: ArchiveNowParts): Promise<ArchiveSummary> {
  const files: string[] = [];
  const refused = new Set<string>();
  let rows = 0;
  // One moment for all steps, so that they come to an end.
  const args = { directory: auditDirectory(home), now: clock.now(), retention, promptly: true };
  for (;;) {
    signal?.throwIfAborted();
    const done = await store.write('audit.archive', args, { level: 'full' });
    for (const chain of done?.refused ?? []) refused.add(chain);
    if (done?.file === undefined) return { rows, files, refused: [...refused] };
    files.push(done.file);
    rows += done.rows;
  }
}
