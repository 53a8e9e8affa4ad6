import type { Redactor } from '../kernel/redaction/index.ts';
import type { JsonObject, Relay } from '../upstreams/types.ts';

/**
 * What an upstream says to the client in the course of a call, without secrets, as its results are. A question keeps its form: only what is
 * known to be secret by its value is taken out, since an address that a person is to open would lead nowhere.
 */
export function maskedRelay(relay: Relay, redactor: Redactor): Relay {
  return {
    ...relay,
    ask: (method, params, signal) => relay.ask(method, redactor.known.value(params) as JsonObject, signal),
    tell: (method, params) => relay.tell(method, redactor.value(params) as JsonObject),
    progress: (params) => relay.progress(redactor.value(params) as JsonObject),
  };
}
