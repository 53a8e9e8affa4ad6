import type { Config } from '../kernel/config/index.ts';

/** What an agent may see and call. Hidden is denied: the gate asks `allows` at the call, not only when listing. */
export interface Toolset {
  readonly name: string;
  /** The tools in it, or `all` for the default one that nobody configured. */
  readonly tools: 'all' | ReadonlySet<string>;
  /** By the resolved name of a tool. */
  allows(tool: string): boolean;
}

export type ResolvedToolset =
  | { readonly ok: true; readonly toolset: Toolset }
  | { readonly ok: false; readonly message: string; readonly fix: string };

const DEFAULT_TOOLSET = 'default';

/** The toolset of that name, or the default one. A name nobody configured is an error: it may be a misspelt narrow one. */
export function resolveToolset(name: string | undefined, config: { readonly tools: Pick<Config['tools'], 'toolsets'> }): ResolvedToolset {
  const { toolsets } = config.tools;
  const wanted = name ?? DEFAULT_TOOLSET;
  const named = Object.hasOwn(toolsets, wanted) ? toolsets[wanted] : undefined;
  if (named !== undefined) {
    const tools = new Set(named);
    // `SERVER__*`: all of an upstream's.
    const families = named.filter((entry) => entry.endsWith('__*')).map((entry) => entry.slice(0, -1));
    const allows = (tool: string): boolean => tools.has(tool) || families.some((family) => tool.startsWith(family));
    return { ok: true, toolset: { name: wanted, tools, allows } };
  }
  if (wanted === DEFAULT_TOOLSET) return { ok: true, toolset: { name: wanted, tools: 'all', allows: () => true } };
  const known = [DEFAULT_TOOLSET, ...Object.keys(toolsets).filter((one) => one !== DEFAULT_TOOLSET)].join(', ');
  return {
    ok: false,
    message: `There is no toolset ${JSON.stringify(wanted.slice(0, 80))}; there are: ${known}.`,
    fix: 'Use one of these, or add it under tools.toolsets in the operator configuration.',
  };
}
