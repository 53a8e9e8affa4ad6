/** The floor of a server on standard input and output: a line is parsed, its parameters go back. */
import { createInterface } from 'node:readline';

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line) as { id: number; params: unknown };
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text: JSON.stringify(params) }] } })}\n`,
  );
});
