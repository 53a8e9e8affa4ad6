import { statement } from '../store/index.ts';

export interface CheckpointRow {
  readonly organization: string;
  readonly seq: number;
  readonly line: string;
  readonly filed: number;
}

export const lastCheckpoint = statement<{ organization: string }, { seq: number; line: string }>((db, p) =>
  db.selectFrom('audit_checkpoints').select(['seq', 'line']).where('organization', '=', p.organization).orderBy('seq', 'desc').limit(1),
);

export const anyCheckpoint = statement<Record<never, never>, { seq: number }>((db) =>
  db.selectFrom('audit_checkpoints').select('seq').limit(1),
);

export const insertCheckpoint = statement<{ organization: string; seq: number; line: string }>((db, p) =>
  db.insertInto('audit_checkpoints').values({ organization: p.organization, seq: p.seq, line: p.line }),
);

export const unfiledCheckpoints = statement<Record<never, never>, { organization: string; seq: number; line: string }>((db) =>
  db.selectFrom('audit_checkpoints').select(['organization', 'seq', 'line']).where('filed', '=', 0).orderBy('organization').orderBy('seq'),
);

export const markFiled = statement<{ organization: string; seq: number }>((db, p) =>
  db.updateTable('audit_checkpoints').set({ filed: 1 }).where('organization', '=', p.organization).where('seq', '=', p.seq),
);

export const allCheckpoints = statement<Record<never, never>, CheckpointRow>((db) =>
  db.selectFrom('audit_checkpoints').select(['organization', 'seq', 'line', 'filed']).orderBy('organization').orderBy('seq'),
);
