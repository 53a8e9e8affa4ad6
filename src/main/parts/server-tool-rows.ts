import type { ToolRow } from '../../http/index.ts';
import { differenceLines, type ListedUpstream, type UpstreamSettings, type UpstreamTool } from '../../upstreams/index.ts';

type Recorded = ListedUpstream['tools'][number];

/** The tools of a server for its operator: those it has now, in its order, then those that are only in the record of what people answered. */
export function toolRows(
  { disabled_tools, require_approval }: UpstreamSettings,
  tools: readonly UpstreamTool[],
  recorded: ListedUpstream | undefined,
): readonly ToolRow[] {
  const pins = new Map((recorded?.tools ?? []).map((tool) => [tool.name, tool]));
  const listed = tools.map(({ name, exposed, definition, flags, availability }): ToolRow => {
    const { description } = definition;
    const pin = pins.get(name);
    pins.delete(name);
    return {
      name,
      exposed,
      ...(typeof description === 'string' ? { description } : {}),
      state: availability.state,
      ...(availability.state === 'enabled' ? {} : { reason: availability.reason }),
      flags,
      off: disabled_tools.includes(name),
      ...(pin === undefined ? {} : { pin: pinOf(pin), ...askedOf(pin, require_approval) }),
    };
  });
  // While it isn't there a person can still answer for what it has shown.
  const others = [...pins.values()].map(
    (pin): ToolRow => ({
      name: pin.name,
      state: 'recorded',
      flags: pin.flags,
      off: disabled_tools.includes(pin.name),
      pin: pinOf(pin),
      ...askedOf(pin, require_approval),
    }),
  );
  return [...listed, ...others];
}

function pinOf({ state, at, by, schema }: Recorded): NonNullable<ToolRow['pin']> {
  return { state, at, ...(by === undefined ? {} : { by }), ...(schema === undefined ? {} : { schema }) };
}

function askedOf({ state, sha256, difference }: Recorded, always: boolean): { readonly asked?: NonNullable<ToolRow['asked']> } {
  if (state !== 'asked' && state !== 'changed' && !(always && state === 'seen')) return {};
  const reason = state === 'changed' ? 'It has changed since it was approved or first seen.' : 'Nobody has approved it.';
  return { asked: { sha256, reason, difference: difference === undefined ? [] : differenceLines(difference) } };
}
