import type { AuditEvent, AuditLog } from '../audit/types.ts';
import type { Clock } from '../kernel/clock.ts';
import { toAppError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';

/** Requests that were turned away at a door for agents or operators, as far as that is anybody's business afterwards. */
export interface Refusals {
  /** Never waits and never throws. */
  record(what: { readonly route: string; readonly why: string; readonly agent?: string }): void;
}

/** Rows per minute, so that nobody fills the record by knocking; what is left out is counted in the next row. */
const PER_MINUTE = 30;
const MINUTE = 60_000;

export function createRefusals(parts: { audit(): Promise<AuditLog>; readonly clock: Clock; readonly logger: Logger }): Refusals {
  let since = Number.NEGATIVE_INFINITY;
  let rows = 0;
  let left_out = 0;

  const write = async (event: AuditEvent): Promise<void> => {
    const log = await parts.audit();
    await log.record(event);
  };

  return {
    record({ route, why, agent }) {
      const now = parts.clock.monotonic();
      if (now - since >= MINUTE) {
        since = now;
        rows = 0;
      }
      if (rows >= PER_MINUTE) {
        left_out += 1;
        return;
      }
      rows += 1;
      const data = { route: route.slice(0, 200), why, ...(left_out > 0 ? { left_out } : {}) };
      left_out = 0;
      write({
        type: 'http.refused',
        at: parts.clock.now(),
        organization: 'org_local',
        ...(agent === undefined ? {} : { agent }),
        data,
      }).catch((thrown: unknown) => parts.logger.warn('a refused request could not be recorded', { reason: toAppError(thrown).message }));
    },
  };
}
