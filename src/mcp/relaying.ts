import { reaches } from '../kernel/json-rpc/log-levels.ts';
import { isObject, METHOD_NOT_FOUND, type Members } from '../kernel/json-rpc/message.ts';
import type { Relay, RelayAnswer } from '../upstreams/types.ts';
import { levelOfRequest } from './hearing.ts';
import type { WorkContext } from './methods/context.ts';
import type { Progress } from './progress.ts';

/** A person reads and answers; the client may be slower than that, and then it was not answered. */
const QUESTION_MS = 10 * 60_000;

/** How an upstream reaches the client of one call, as far as that client said that it can be reached. */
export function createRelay(
  { peer, ask, offer, features, hearing, params: asked }: Pick<WorkContext, 'peer' | 'ask' | 'offer' | 'features' | 'hearing' | 'params'>,
  progress: Pick<Progress, 'relay'> = { relay: () => false },
): Relay {
  const stateless = features.era === 'stateless';
  const least = stateless ? levelOfRequest(asked) : hearing.level();
  return {
    tasks: stateless && offersTasks(peer.capabilities),
    ...(least === undefined ? {} : { log_level: least }),
    async ask(method, params, signal) {
      const missing = missingCapability(method, params, peer.capabilities);
      if (missing !== undefined) return cannot(missing);
      const answer = await ask({ method, params, ms: QUESTION_MS, signal });
      if (answer.ok && isObject(answer.result)) return { ok: true, result: answer.result };
      return {
        ok: false,
        error: { code: -32603, message: answer.ok ? 'The client answered with something that is not an object' : answer.reason },
      };
    },
    progress: progress.relay,
    tell(method, params) {
      if (method === 'notifications/message' && (least === undefined ? stateless : !reaches(params['level'], least))) return;
      offer({ jsonrpc: '2.0', method, params });
    },
  };
}

export const TASKS = 'io.modelcontextprotocol/tasks';

function offersTasks({ extensions }: Members): boolean {
  return isObject(extensions) && isObject(extensions[TASKS]);
}

function missingCapability(method: string, params: Members, capabilities: Members): string | undefined {
  if (method === 'sampling/createMessage') return isObject(capabilities['sampling']) ? undefined : 'it offers no sampling';
  const elicitation = capabilities['elicitation'];
  if (!isObject(elicitation)) return 'it offers no elicitation';
  const mode = params['mode'] ?? 'form';
  // `{}` is what the revisions before modes declare for forms.
  const offered = mode === 'form' ? isObject(elicitation['form']) || !isObject(elicitation['url']) : isObject(elicitation['url']);
  return offered ? undefined : `it offers no elicitation in mode ${JSON.stringify(mode)?.slice(0, 20)}`;
}

function cannot(why: string): RelayAnswer {
  return { ok: false, error: { code: METHOD_NOT_FOUND, message: `The client of this call can't be asked: ${why}` } };
}
