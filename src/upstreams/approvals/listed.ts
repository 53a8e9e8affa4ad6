import { difference } from './difference.ts';
import { schemaOf } from './pin.ts';
import type { ToolRecord } from './records.ts';
import type { ListedTool } from './types.ts';

/** One tool as a person reads it in a list, with what they have to see before answering. */
export function listed({ name, state, at, by, pin, flags, waiting }: ToolRecord): ListedTool {
  const shown = waiting?.pin ?? pin;
  const schema = schemaOf(shown);
  const open = waiting !== undefined ? difference(pin, waiting.pin) : state === 'asked' ? difference(undefined, pin) : undefined;
  return {
    name,
    state: waiting !== undefined && state !== 'denied' ? 'changed' : state,
    at,
    ...(by === undefined ? {} : { by }),
    sha256: shown.sha256,
    ...(schema === undefined ? {} : { schema }),
    flags: (waiting === undefined ? flags : waiting.flags) ?? [],
    ...(open === undefined ? {} : { difference: open }),
  };
}
