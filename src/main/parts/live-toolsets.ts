import { resolveToolset, type Toolset } from '../../identity/index.ts';
import type { Config } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';

/** What agents may see and call by the toolsets of the configuration as it is now. Asked at every call. */
export interface LiveToolsets {
  /** Somebody has this one. AppError config_invalid where nobody has configured it. */
  use(name: string): void;
  /** `at`: what holds in the Workspace of the call. */
  allows(name: string, tool: string, at?: Config): boolean;
  /** The operator has configured others. Whether anything is different for whoever uses one. */
  configure(config: Config): boolean;
}

/** Of a toolset that is gone nothing is allowed: whoever had it had it for its bounds. */
const NOTHING = { allows: () => false };

export function createLiveToolsets(first: Config, logger: Logger): LiveToolsets {
  let now = first;
  const used = new Map<string, Pick<Toolset, 'allows'>>();
  const leavesIn = createLeavesIn();
  return {
    use(name) {
      const resolved = resolveToolset(name, now);
      if (!resolved.ok) throw new AppError('config_invalid', resolved.message, { fix: resolved.fix });
      used.set(name, resolved.toolset);
    },
    allows: (name, tool, at) =>
      (used.get(name) ?? NOTHING).allows(tool) && leavesIn(first, name, tool) && (at === undefined || leavesIn(at, name, tool)),
    configure(config) {
      const before = now.tools.toolsets;
      now = config;
      if (JSON.stringify(before) === JSON.stringify(config.tools.toolsets)) return false;
      for (const name of used.keys()) {
        const resolved = resolveToolset(name, now);
        used.set(name, resolved.ok ? resolved.toolset : NOTHING);
        if (!resolved.ok) logger.warn(`the toolset "${name}" is not configured any more: whoever has it may call nothing`);
      }
      return true;
    },
  };
}

/**
 * A project may leave tools out of a toolset for calls in its folder, wherever Writ was started: by its file as it was when it was read, so
 * that an agent can't edit itself out of it.
 */
function createLeavesIn(): (config: Config, toolset: string, tool: string) => boolean {
  const known = new WeakMap<Config, Map<string, ReturnType<typeof resolveToolset>>>();
  return (config, toolset, tool) => {
    if (config.narrowed === undefined || !config.narrowed.includes(toolset)) return true;
    const ofConfig = known.get(config) ?? new Map<string, ReturnType<typeof resolveToolset>>();
    known.set(config, ofConfig);
    const resolved = ofConfig.get(toolset) ?? resolveToolset(toolset, config);
    ofConfig.set(toolset, resolved);
    return !resolved.ok || resolved.toolset.allows(tool);
  };
}
