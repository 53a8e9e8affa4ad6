import type { Approvals } from '../../approvals/types.ts';

export interface Attendance {
  set(present: boolean): void;
  close(): Promise<void>;
}

/** A page that answers a form is gone for a moment: a question that comes just then must still find somebody. */
const LINGER_MS = 10_000;

/** Tells the approvals that somebody sees questions on the page, from the first open one until a little after the last. */
export function createAttendance(approvals: Pick<Approvals, 'attend'>): Attendance {
  let attending: { close(): Promise<void> } | undefined;
  let leaving: NodeJS.Timeout | undefined;

  async function leave(): Promise<void> {
    clearTimeout(leaving);
    const last = attending;
    attending = undefined;
    await last?.close();
  }

  return {
    set(present) {
      clearTimeout(leaving);
      if (present) attending ??= approvals.attend('page');
      else leaving = setTimeout(() => void leave(), LINGER_MS).unref();
    },
    close: leave,
  };
}
