import { REVISIONS } from '../../../src/mcp/index.ts';

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'fuzz', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** Every kind of frame that a client sends, valid, in the order of an ordinary session. Ids are given out later. */
export function seedFrames(calls: readonly Json[]): readonly Json[] {
  const ordinary: readonly (readonly [string, Json])[] = [
    ['ping', {}],
    ['tools/list', { cursor: '' }],
    ...calls.map((params) => ['tools/call', params] as const),
    ['resources/list', {}],
    ['resources/templates/list', {}],
    ['resources/read', { uri: 'writ://output/exec_01k00000000000000000000000?cursor=0' }],
    ['completion/complete', { ref: { type: 'ref/prompt', name: 'x' }, argument: { name: 'a', value: 'b' } }],
  ];
  const requests = ordinary.map(([method, params]) => ({ jsonrpc: '2.0', id: 0, method, params }));
  const stateless = [...ordinary, ['server/discover', {}] as const, ['subscriptions/listen', { notifications: {} }] as const].map(
    ([method, params]) => ({ jsonrpc: '2.0', id: 0, method, params: { ...(params as object), _meta: META } }),
  );
  const notifications: readonly Json[] = [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'wait-1', reason: 'not needed' } },
    { jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: 1 } },
    { jsonrpc: '2.0', id: 'writ-1', result: { roots: [{ uri: 'file:///tmp', name: 'tmp' }] } },
    { jsonrpc: '2.0', id: 'writ-1', error: { code: -32601, message: 'Method not found' } },
  ];
  const batch: Json = [...requests.slice(0, 4), { jsonrpc: '2.0', method: 'notifications/initialized' }];
  return [
    ...requests,
    ...stateless,
    ...requests,
    ...notifications,
    batch,
    ...Object.keys(REVISIONS).map((revision) => handshake(revision)),
  ];
}

export function handshake(protocolVersion: string): Json {
  const params = { protocolVersion, capabilities: { roots: { listChanged: true } }, clientInfo: { name: 'fuzz', version: '1' } };
  return { jsonrpc: '2.0', id: 'init', method: 'initialize', params };
}
