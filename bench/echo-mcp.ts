/** The least MCP server over standard streams: one tool that gives back its arguments. What it costs is no part of what is compared. */
import { createInterface } from 'node:readline';

const TOOL = {
  name: 'echo',
  description: 'Gives back what it gets.',
  inputSchema: { type: 'object' },
  annotations: { readOnlyHint: true },
};

const ANSWERS: Readonly<Record<string, (params: Readonly<Record<string, unknown>>) => object>> = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'echo', version: '1' } }),
  'tools/list': () => ({ tools: [TOOL] }),
  'tools/call': ({ arguments: args }) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line) as { id?: number; method: string; params?: Readonly<Record<string, unknown>> };
  if (id === undefined) return;
  const answer = ANSWERS[method];
  const outcome = answer === undefined ? { error: { code: -32601, message: 'Method not found' } } : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...outcome })}\n`);
});
