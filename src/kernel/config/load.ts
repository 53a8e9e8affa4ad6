import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { defaultConfig } from './defaults.ts';
import type { ProcessFacts } from './process.ts';
import type { LoadConfigOptions, LoadedConfig } from './result.ts';

export const OPERATOR_FILE = 'config.json';
export const PROJECT_FILE = 'writ.json';

/**
 * The configuration, or why there is none: an unreadable policy is never replaced by a milder one. Without any file, variable
 * or flag this costs two look-ups; the parser and the schema are loaded only when there is something to check.
 */
export async function loadConfig(
  facts: Pick<ProcessFacts, 'cores' | 'memory_bytes' | 'host_env' | 'uid'>,
  options: LoadConfigOptions,
): Promise<LoadedConfig> {
  const defaults = defaultConfig(facts);
  const operator = join(options.home, OPERATOR_FILE);
  const project = options.project_dir === undefined ? undefined : join(options.project_dir, PROJECT_FILE);
  const variables = Object.keys(facts.host_env).some((name) => name.startsWith('WRIT_') && name !== 'WRIT_HOME');
  const quiet = !variables && (options.flags ?? []).length === 0 && !present(operator) && (project === undefined || !present(project));
  if (quiet) return { ok: true, config: defaults, provenance: {}, warnings: [], files: [] };
  const { combine } = await import('./combine.ts');
  return combine({ facts, defaults, operator, project, flags: options.flags ?? [] });
}

/** A dangling link or a folder that can't be searched counts: it must become an error and not pass for "no file". */
function present(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
