import type { Reply } from '../../kernel/json-rpc/message.ts';
import type { Features } from '../revisions.ts';
import type { RequestContext, Work } from './context.ts';
import { askTask, complete, getPrompt, listPrompts } from './foreign.ts';
import { discover } from './handshake.ts';
import { listResources, listTemplates, readResource } from './resources.ts';
import { listen, setLevel, subscribe, unsubscribe } from './subscriptions.ts';
import { callTool, listTools } from './tools.ts';

/** `answer` is ready at once; `work` takes time and counts against a bound: `calls` or, open for as long as the client likes, `streams`. */
export type Method = {
  readonly eras: readonly Features['era'][];
  readonly needs?: 'resources' | 'foreign';
} & ({ readonly answer: (context: RequestContext) => Reply } | { readonly work: Work; readonly bound: 'calls' | 'streams' });

const BOTH: Method['eras'] = ['handshake', 'stateless'];

/** Every request we answer but `initialize`, which belongs to the connection. */
export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['ping', { eras: ['handshake'], answer: () => ({ result: {} }) }],
  ['server/discover', { eras: ['stateless'], answer: discover }],
  ['tools/list', { eras: BOTH, work: listTools, bound: 'calls' }],
  ['tools/call', { eras: BOTH, work: callTool, bound: 'calls' }],
  ['resources/list', { eras: BOTH, needs: 'resources', work: listResources, bound: 'calls' }],
  ['resources/templates/list', { eras: BOTH, needs: 'resources', work: listTemplates, bound: 'calls' }],
  ['resources/read', { eras: BOTH, needs: 'resources', work: readResource, bound: 'calls' }],
  ['prompts/list', { eras: BOTH, needs: 'foreign', work: listPrompts, bound: 'calls' }],
  ['prompts/get', { eras: BOTH, needs: 'foreign', work: getPrompt, bound: 'calls' }],
  ['completion/complete', { eras: BOTH, needs: 'foreign', work: complete, bound: 'calls' }],
  ['logging/setLevel', { eras: ['handshake'], needs: 'foreign', answer: setLevel }],
  ['resources/subscribe', { eras: ['handshake'], needs: 'foreign', work: subscribe, bound: 'calls' }],
  ['resources/unsubscribe', { eras: ['handshake'], needs: 'foreign', work: unsubscribe, bound: 'calls' }],
  ['tasks/get', { eras: ['stateless'], needs: 'foreign', work: askTask('get'), bound: 'calls' }],
  ['tasks/update', { eras: ['stateless'], needs: 'foreign', work: askTask('update'), bound: 'calls' }],
  ['tasks/cancel', { eras: ['stateless'], needs: 'foreign', work: askTask('cancel'), bound: 'calls' }],
  ['subscriptions/listen', { eras: ['stateless'], work: listen, bound: 'streams' }],
]);
