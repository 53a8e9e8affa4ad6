import type { Settings } from '../../cli/index.ts';
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
  /** Settings given on the command line. */
  readonly flags?: Settings | undefined;
}): (project_dir: string | undefined) => Promise<Config> {
  const known = new Map<string | undefined, Promise<Config>>();
  const load = async (project_dir: string | undefined): Promise<Config> => {
    const loaded = await loadConfig(parts.facts, { home: parts.home(), project_dir, flags: parts.flags ?? [] });
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
