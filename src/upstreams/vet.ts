import type { Logger } from '../kernel/logger.ts';
import { hardenTools } from './hardening/harden-tools.ts';
import type { ToolAvailability, UpstreamSettings, UpstreamTool } from './types.ts';

/** What a person said of a tool, where one was asked for. */
export type JudgeTool = (tool: Omit<UpstreamTool, 'availability'>, held: boolean) => ToolAvailability;

/**
 * What the tools of an upstream are for us, in the order they came: hardened first, then as a person decided. A bad one is left out with
 * its reason; the others stay.
 */
export function vetTools(
  settings: UpstreamSettings,
  definitions: readonly unknown[],
  { builtins, judge, logger }: { readonly builtins: readonly string[]; readonly judge: JudgeTool; readonly logger: Logger },
): readonly UpstreamTool[] {
  const { name: server, prefix, disabled_tools } = settings;
  const hardened = hardenTools({ server, prefix, tools: definitions, builtins });
  for (const name of disabled_tools) {
    if (!hardened.some((tool) => tool.name === name)) logger.warn(`"${server}" has no tool "${name}", which disabled_tools names`);
  }
  return hardened.flatMap((one): readonly UpstreamTool[] => {
    if (one.type === 'reject') {
      logger.warn(`a tool of "${server}" is left out: ${one.name}: ${one.reason}`);
      return [];
    }
    const { name, exposed, definition } = one;
    const tool = { name, exposed, server, definition, flags: one.type === 'flag' ? one.flags : [] };
    const disabled = disabled_tools.includes(name);
    return [
      {
        ...tool,
        availability: disabled ? { state: 'disabled', reason: 'it is in disabled_tools' } : judge(tool, one.type === 'flag' && one.held),
      },
    ];
  });
}
