import { systemClock as clock } from '../../src/kernel/clock.ts';
import type { ProcessFacts } from '../../src/kernel/config/index.ts';
import { silentLogger as logger } from '../../src/kernel/logger.ts';
import { createRedactor } from '../../src/kernel/redaction/index.ts';
import { openApprovals } from '../../src/main/parts/approvals.ts';
import { openAudit } from '../../src/main/parts/audit.ts';
import { createConfigs } from '../../src/main/parts/configs.ts';
import { openDatabase } from '../../src/main/parts/database.ts';
import { once } from '../../src/main/parts/once.ts';
import { WRITER_THREAD } from './programs.ts';

/** What every process of Writ is composed of (main/parts/compose.ts), in this one and for one home; `project`: whose file counts too. */
export async function openParts(facts: ProcessFacts, home: string, project: string | undefined) {
  const redactor = createRedactor();
  const database = openDatabase(home, WRITER_THREAD);
  const configFor = createConfigs({ facts, home: () => home, logger });
  const config = await configFor(project);
  const audit = once(async () => openAudit({ home, database, clock, logger, config: config.audit }));
  const asking = openApprovals({ database, audit, clock, logger, redactor, config, host_env: facts.host_env });
  return { facts, home, config, configFor, redactor, database, audit, asking, logger, clock, version: '0.0.0' };
}
