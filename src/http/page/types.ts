import type { Approvals, Grants } from '../../approvals/types.ts';
import type { RecordedEvent } from '../../audit/index.ts';
import type { AgentToken, Identity, RegisteredWorkspace } from '../../identity/types.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../kernel/logger.ts';
import type { Refusals } from '../refusals.ts';
import type { ServersOnDemand } from '../servers/types.ts';
import type { OperatorSessions } from './sessions.ts';

/** Something that is running: a call in this process, or a job of this machine. */
export interface RunningItem {
  readonly kind: 'call' | 'job';
  readonly id: string;
  readonly agent: string;
  /** The program in between, as it calls itself. */
  readonly client?: string;
  readonly workspace: string;
  readonly tool: string;
  /** Masked and escaped. */
  readonly what: string;
  readonly started_at: number;
}

/** What the page shows and does, as ports: it knows no room that runs anything. */
export interface PageParts {
  readonly sessions: OperatorSessions;
  readonly servers: ServersOnDemand;
  readonly approvals: Approvals;
  readonly grants: Grants;
  readonly identity: Pick<Identity, 'links'>;
  running(): Promise<readonly RunningItem[]>;
  /** False: it is over. What the operator does is in the record. */
  stop(kind: RunningItem['kind'], id: string): Promise<boolean>;
  /** The newest decisions of gate and people. */
  decisions(): Promise<readonly RecordedEvent[]>;
  agents(): Promise<{ readonly tokens: readonly AgentToken[]; readonly workspaces: readonly RegisteredWorkspace[] }>;
  revokeToken(name: string): Promise<boolean>;
  /** Somebody opened a one-time link. */
  recordOpened(): Promise<void>;
  readonly refusals: Refusals;
  /** The person whose machine this is, for `decided_by`. */
  readonly operator: string;
  /** Names in `Host` that are us, and origins that pages of ours may have beside `http://HOST`. */
  readonly hosts: readonly string[];
  readonly public_origin: string | undefined;
  readonly version: string;
  readonly clock: Clock;
  readonly logger: Logger;
}
