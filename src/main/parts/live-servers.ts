import { type Stats, unwatchFile, watchFile } from 'node:fs';
import { join } from 'node:path';
import type { Settings } from '../../cli/index.ts';
import { type Config, loadConfig, type ProcessFacts } from '../../kernel/config/index.ts';
import { OPERATOR_FILE } from '../../kernel/config/load.ts';
import { toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';

/** How soon an edit is noticed. Looking is cheap, and unlike being told it works for links, for files that are replaced, and on every disk. */
const LOOK_MS = 500;

export interface LiveServersParts {
  readonly facts: ProcessFacts;
  readonly home: string;
  readonly flags?: Settings;
  /** As it was at the start. */
  readonly config: Config;
  readonly logger: Logger;
  apply(config: Config): Promise<void>;
}

/**
 * Follows `mcp_servers` and `tools` of the operator's file while this process runs; nothing else of it is live. What a project
 * brought in stays as it was at the start. A file that is no good is said, and the last good one holds. Returns how it ends.
 */
export function watchServers({ facts, home, flags = [], config: first, logger, apply }: LiveServersParts): () => void {
  const file = join(home, OPERATOR_FILE);
  const ofProject = Object.entries(first.mcp_servers).filter(([, { source }]) => source === 'project');
  let working = Promise.resolve();
  let ended = false;

  async function read(): Promise<void> {
    if (ended) return;
    const loaded = await loadConfig(facts, { home, flags });
    if (!loaded.ok) {
      const [problem] = loaded.problems;
      const where = problem?.file === undefined ? file : `${problem.file}${problem.line === undefined ? '' : `:${problem.line}`}`;
      logger.warn(`${where}: ${problem?.message ?? 'it is unreadable'}; the MCP servers stay as they were (writ config check)`);
      return;
    }
    const { mcp_servers, tools } = loaded.config;
    // A name of the operator's is the operator's, whatever a project says.
    const theirs = ofProject.filter(([name]) => !Object.hasOwn(mcp_servers, name));
    await apply({
      ...first,
      mcp_servers: { ...mcp_servers, ...Object.fromEntries(theirs) },
      tools,
    });
    logger.info(`${file} was read again: ${Object.keys(mcp_servers).length} MCP servers`);
  }

  const changed = (now: Stats, before: Stats): void => {
    // It is told once of a file that isn't there.
    if (now.ino === before.ino && now.mtimeMs === before.mtimeMs && now.size === before.size) return;
    working = working
      .then(read)
      .catch((thrown: unknown) => logger.warn('the MCP servers could not be configured anew', { reason: toAppError(thrown).message }));
  };
  watchFile(file, { interval: LOOK_MS, persistent: false }, changed);
  return () => {
    ended = true;
    unwatchFile(file, changed);
  };
}
