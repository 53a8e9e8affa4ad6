import { type Config, type ConfigNote, loadConfig, type ProcessFacts } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';

/**
 * The configuration as it holds in a project folder, whose `writ.json` may only tighten. Read once per folder: a file that is changed
 * while an agent works, perhaps by it, changes nothing until the next start.
 */
export function createConfigs(parts: {
  readonly facts: ProcessFacts;
  home(): string;
  readonly logger: Logger;
}): (project_dir: string | undefined) => Promise<Config> {
  const known = new Map<string | undefined, Promise<Config>>();
  const load = async (project_dir: string | undefined): Promise<Config> => {
    const loaded = await loadConfig(parts.facts, { home: parts.home(), project_dir });
    for (const warning of loaded.warnings) parts.logger.warn(`${placeOf(warning)}${warning.message}`);
    if (!loaded.ok) {
      const [first] = loaded.problems;
      throw new AppError(
        'config_invalid',
        `The configuration can't be used: ${first ? placeOf(first) + first.message : 'it is unreadable'}.`,
        {
          fix: 'Run `writ config check` there for all of it.',
        },
      );
    }
    refuseUnmet(loaded.config, parts.logger);
    return loaded.config;
  };
  return (project_dir) => {
    const found = known.get(project_dir);
    if (found !== undefined) return found;
    const config = load(project_dir);
    known.set(project_dir, config);
    // What could not be used is read again once a person has mended it.
    config.catch(() => known.delete(project_dir));
    return config;
  };
}

function placeOf({ file, line }: ConfigNote): string {
  return file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `;
}

/** Settings that are part of the format but not of this version: what would weaken or change containment is refused, the rest is said. */
function refuseUnmet(config: Config, logger: Logger): void {
  if (config.sandbox.backend !== 'bubblewrap') {
    throw new AppError(
      'config_invalid',
      `sandbox.backend is "${config.sandbox.backend}", and this version contains commands with bubblewrap only.`,
      {
        fix: 'Remove sandbox.backend from ~/.writ/config.json.',
      },
    );
  }
  if (Object.keys(config.mcp_servers).length > 0)
    logger.warn('mcp_servers has no effect in this version: other MCP servers are not started yet');
}
