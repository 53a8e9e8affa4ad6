import { isMainThread } from 'node:worker_threads';
import { AppError } from '../../src/kernel/errors.ts';
import { runWriterThread, type Session, writeOfMany } from '../../src/store/index.ts';

/** Writes for the tests of the store, in a table that is there anyway. */
export const testWrites = {
  'test.put': (session: Session, { seq, line }: { seq: number; line?: string }): number => {
    session.run('INSERT INTO audit_checkpoints (organization, seq, line) VALUES (?, ?, ?)', ['test', seq, line ?? '-']);
    return seq;
  },
  'test.put_then_fail': (session: Session, { seq }: { seq: number }): never => {
    session.run('INSERT INTO audit_checkpoints (organization, seq, line) VALUES (?, ?, ?)', ['test', seq, '-']);
    throw new AppError('not_found', `no ${seq}`, { fix: 'none', data: { seq } });
  },
  'test.big': (session: Session, { seq, bytes }: { seq: number; bytes: number }): number => {
    session.run('INSERT INTO audit_checkpoints (organization, seq, line) VALUES (?, ?, hex(randomblob(?)))', ['test', seq, bytes / 2]);
    return seq;
  },
  /** Several at once; a negative one throws after the others were stored. Says where it was done. */
  'test.put_many': writeOfMany((session: Session, all: readonly { readonly seq: number }[]): { here: boolean; together: number }[] => {
    for (const { seq } of all) if (seq >= 0) testWrites['test.put'](session, { seq });
    if (all.some(({ seq }) => seq < 0)) throw new AppError('not_found', 'one is negative');
    return all.map(() => ({ here: isMainThread, together: all.length }));
  }),
  'test.die': (): never => process.exit(7),
} as const;

export type TestWrites = typeof testWrites;

if (!isMainThread) runWriterThread(testWrites);
