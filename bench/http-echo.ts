/** The least MCP server over Streamable HTTP, without sessions: echo-mcp.ts at the other end of a POST. Its place is printed on the first line. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { answerTo } from './echo-answers.ts';

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.writeHead(405).end();
    return;
  }
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const answer = answerTo(Buffer.concat(chunks).toString('utf8'));
    if (answer === undefined) response.writeHead(202).end();
    else response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(answer) }).end(answer);
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port })));
process.stdin.resume().on('end', () => process.exit());
