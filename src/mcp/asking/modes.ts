import { isObject } from '../../kernel/json-rpc/message.ts';
import type { Features } from '../revisions.ts';
import type { Peer } from '../types.ts';

/** How a client said that it can ask its person. An empty `elicitation` is a form; so it was before there were modes. */
export interface Modes {
  readonly form: boolean;
  /** Opens a page of ours. */
  readonly url: boolean;
}

export const NOBODY: Modes = { form: false, url: false };

export function modesOf({ capabilities }: Peer, { asks, elicitationModes }: Features): Modes {
  const declared = capabilities['elicitation'];
  if (asks === 'never' || !isObject(declared)) return NOBODY;
  if (!elicitationModes) return { form: true, url: false };
  return { form: isObject(declared['form']) || Object.keys(declared).length === 0, url: isObject(declared['url']) };
}
