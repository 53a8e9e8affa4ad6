import { failure, INVALID_PARAMS, isObject, type Reply } from '../../kernel/json-rpc/message.ts';
import type { WorkContext } from './context.ts';

const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

/**
 * `subscriptions/listen` (2026-07-28). Nothing of ours changes while we run, so the honoured filter is empty; the stream stays open until the client
 * cancels it or we end, which is told by the response (the schema's graceful close).
 */
export async function listen({ id, params, flight, send }: WorkContext): Promise<Reply> {
  if (!isObject(params['notifications'])) return failure(INVALID_PARAMS, 'The member params.notifications must be an object');
  const meta = { [SUBSCRIPTION_ID]: id };
  send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta: meta, notifications: {} } });
  await new Promise<void>((resolve) => {
    if (flight.signal.aborted) resolve();
    else flight.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  // Not sent where it was the client that ended it.
  return { result: { _meta: meta } };
}
