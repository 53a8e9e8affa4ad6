import { readFileSync, watchFile } from 'node:fs';
import { createInterface } from 'node:readline';

/**
 * An MCP server of 2025-11-25 over standard streams, one file and no imports but node's. `notes`: one tool, whose definition is another one for each
 * number that stands in the file `version` of its folder, and which tells when it changes. `many`: 45 tools that multiply.
 */
const [what = 'notes'] = process.argv.slice(2);
const GREETINGS = { 1: 'Hello', 2: 'Good day', 3: 'Greetings' };
const STYLES = { 1: 'Greets somebody.', 2: 'Greets somebody, politely.', 3: 'Greets somebody, solemnly.' };
const version = () => Number(readFileSync('version', 'utf8'));
const send = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const SERVERS = {
  notes: {
    tools: () => [
      {
        name: 'greet',
        description: STYLES[version()],
        inputSchema: {
          type: 'object',
          properties: { name: { type: 'string' }, ...(version() > 2 ? { title: { type: 'string' } } : {}) },
          required: ['name'],
        },
      },
    ],
    call: (_, { name }) => `${GREETINGS[version()]}, ${name}!`,
  },
  many: {
    tools: () =>
      Array.from({ length: 45 }, (_, index) => ({
        name: `times_${index}`,
        description: `Multiplies a number by ${index}.`,
        inputSchema: { type: 'object', properties: { number: { type: 'number', description: 'To be multiplied' } }, required: ['number'] },
        annotations: { readOnlyHint: true },
      })),
    call: (name, { number }) => `It is ${number * Number(name.slice('times_'.length))}.`,
  },
};
const server = SERVERS[what];

const METHODS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: what, version: '1' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: server.tools() }),
  'tools/call': ({ name, arguments: args }) => ({ content: [{ type: 'text', text: server.call(name, args) }] }),
};

if (what === 'notes') watchFile('version', { interval: 100 }, () => send({ method: 'notifications/tools/list_changed' }));
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const answer = METHODS[method];
    send({ id, ...(answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'Method not found' } }) });
  })
  .on('close', () => process.exit());
