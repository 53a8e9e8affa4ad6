import {
  type Approvals,
  actsFor,
  askedBySelf,
  createApprovals,
  createGrants,
  createTaints,
  type Grants,
  type Taints,
} from '../../approvals/index.ts';
import type { AuditLog } from '../../audit/index.ts';
import type { AskingPort } from '../../cli/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import { systemUptime } from '../../kernel/uptime.ts';
import type { Database } from './database.ts';

export interface ApprovalsParts {
  readonly database: Pick<Database, 'store' | 'reader'>;
  audit(): Promise<AuditLog>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Questions to people, what is remembered of their answers, and what reached the model: of this Writ home, shared by all its processes. */
export interface Asking {
  readonly approvals: Approvals;
  readonly grants: Grants;
  readonly taints: Taints;
  /** This process and the host that started it. */
  readonly asked_by: ReturnType<typeof askedBySelf>;
}

export function openApprovals({ database, audit, clock, logger }: ApprovalsParts): Asking {
  const { store, reader } = database;
  const parts = { store, reader, audit, clock, logger };
  return {
    approvals: createApprovals({ ...parts, uptime: systemUptime() }),
    grants: createGrants(parts),
    taints: createTaints(parts),
    asked_by: askedBySelf(),
  };
}

/** The same for a person at the command line. */
export function askingOf(
  { approvals, grants }: Asking,
  { audit, clock, operator }: { audit(): Promise<AuditLog>; readonly clock: Clock; readonly operator: string },
): AskingPort {
  return {
    approvals,
    grants,
    operator,
    actsFor: ({ asked_by }) => (asked_by === undefined ? undefined : actsFor(process.pid, asked_by)),
    recordSelfApproval: async ({ id, owner, card }) => {
      const data = { approval: id, reason: 'answered from a terminal of the program that asks' };
      const log = await audit();
      await log.record({ type: 'approval.refused', at: clock.now(), ...owner, tool: card.tool, data }, { essential: true });
    },
  };
}
