/** The least MCP server, whatever carries its messages: one tool that gives back its arguments. What it costs is no part of what is compared. */

const TOOL = {
  name: 'echo',
  description: 'Gives back what it gets.',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

const ANSWERS: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => object>> = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
};

/** The answer to one message as text; undefined for one that wants none. */
export function answerTo(text: string): string | undefined {
  const { id, method, params } = JSON.parse(text) as { id?: number; method: string; params?: Readonly<Record<string, unknown>> };
  if (id === undefined) return undefined;
  const answer = ANSWERS[method];
  const outcome = answer === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result: answer(params ?? {}) };
  return JSON.stringify({ jsonrpc: '2.0', id, ...outcome });
}
