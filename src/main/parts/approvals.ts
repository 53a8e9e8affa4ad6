import {
  type Approvals,
  actsFor,
  askedBySelf,
  createApprovals,
  createGrants,
  createTaints,
  createWebhook,
  type Grants,
  type Taints,
  type Webhook,
} from '../../approvals/index.ts';
import type { AuditLog } from '../../audit/index.ts';
import type { AskingPort } from '../../cli/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Config } from '../../kernel/config/index.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { systemUptime } from '../../kernel/uptime.ts';
import type { Database } from './database.ts';

export interface ApprovalsParts {
  readonly database: Pick<Database, 'store' | 'reader'>;
  audit(): Promise<AuditLog>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redactor: Redactor;
  readonly config: Pick<Config, 'approvals' | 'server'>;
  readonly host_env: Readonly<Record<string, string>>;
}

/** Questions to people, what is remembered of their answers, and what reached the model: of this Writ home, shared by all its processes. */
export interface Asking {
  readonly approvals: Approvals;
  readonly grants: Grants;
  readonly taints: Taints;
  /** This process and the host that started it. */
  readonly asked_by: ReturnType<typeof askedBySelf>;
}

export function openApprovals({ database, audit, clock, logger, redactor, config, host_env }: ApprovalsParts): Asking {
  const { store, reader } = database;
  const parts = { store, reader, audit, clock, logger, redactor };
  const webhook = webhookOf(config, host_env, { clock, logger });
  return {
    approvals: createApprovals({ ...parts, uptime: systemUptime(), ...(webhook ? { webhook } : {}) }),
    grants: createGrants(parts),
    taints: createTaints(parts),
    asked_by: askedBySelf(),
  };
}

/** One that was meant to be signed is not used unsigned: its receiver would have to believe anybody. */
function webhookOf(
  { approvals: { webhook }, server }: ApprovalsParts['config'],
  host_env: ApprovalsParts['host_env'],
  { clock, logger }: Pick<ApprovalsParts, 'clock' | 'logger'>,
): Webhook | undefined {
  const { url, secret_env } = webhook;
  if (url === null) return undefined;
  const secret = secret_env === null ? undefined : host_env[secret_env];
  if (secret_env !== null && !secret) {
    logger.warn(`approvals.webhook is not used: the variable ${secret_env}, which is to hold its secret, is not set`);
    return undefined;
  }
  const page = server.public_url;
  return createWebhook({ url, clock, logger, ...(secret ? { secret } : {}), ...(page === null ? {} : { page }) });
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
