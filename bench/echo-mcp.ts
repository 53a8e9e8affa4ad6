/** The least MCP server over standard streams. */
import { createInterface } from 'node:readline';
import { answerTo } from './echo-answers.ts';

createInterface({ input: process.stdin }).on('line', (line) => {
  const answer = answerTo(line);
  if (answer !== undefined) process.stdout.write(`${answer}\n`);
});
