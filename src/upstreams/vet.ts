import type { Logger } from '../kernel/logger.ts';
import type { SeenTool, UpstreamApprovals } from './approvals/types.ts';
import { type HardenedTool, hardenTools } from './hardening/harden-tools.ts';
import type { ToolAvailability, UpstreamSettings, UpstreamTool } from './types.ts';

export interface VetParts {
  /** Names of the tools of Writ itself. */
  readonly builtins: readonly string[];
  readonly approvals: Pick<UpstreamApprovals, 'judgeTools'>;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

/**
 * What the tools of an upstream are for us, in the order they came: hardened first, then pinned and judged by what people answered. A bad
 * one is left out with its reason; the others stay.
 */
export async function vetTools(
  settings: UpstreamSettings,
  definitions: readonly unknown[],
  { builtins, approvals, logger, signal }: VetParts,
): Promise<readonly UpstreamTool[]> {
  const { name: server, prefix, disabled_tools } = settings;
  const hardened = hardenTools({ server, prefix, tools: definitions, builtins });
  for (const name of disabled_tools) {
    if (!hardened.some((tool) => tool.name === name)) logger.warn(`"${server}" has no tool "${name}", which disabled_tools names`);
  }
  const sound = hardened.filter((one) => {
    if (one.type === 'reject') logger.warn(`a tool of "${server}" is left out: ${one.name}: ${one.reason}`);
    return one.type !== 'reject';
  });
  const judged = await approvals.judgeTools(settings, sound.map(seen), { signal });
  return sound.map((one, index): UpstreamTool => {
    const { name, exposed, definition } = one;
    const flags = one.type === 'flag' ? one.flags : [];
    const judgement = judged[index]?.judgement;
    const { mirrored } = one;
    return { name, exposed, server, definition, flags, ...(mirrored === undefined ? {} : { mirrored }), availability: availabilityOf() };

    function availabilityOf(): ToolAvailability {
      if (disabled_tools.includes(name)) return { state: 'disabled', reason: 'it is in disabled_tools' };
      if (judgement === undefined) return { state: 'needs_approval', reason: 'nobody has judged it' };
      if (judgement.state === 'approved') return { state: 'enabled' };
      if (judgement.state === 'denied') return { state: 'disabled', reason: judgement.reason };
      return { state: 'needs_approval', reason: [judgement.reason, ...flags.slice(0, 3)].join(' ') };
    }
  });
}

type Sound = Exclude<HardenedTool, { readonly type: 'reject' }>;

function seen(one: Sound): SeenTool {
  const { name, definition } = one;
  return one.type === 'flag' ? { name, definition, held: one.held, flags: one.flags } : { name, definition, held: false };
}
