/** The floor of an MCP server over HTTP that has one server behind it (argument: its program): bodies are parsed, ids rewritten, and nothing is looked at. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

interface Message {
  id: number;
}

const [program = join(import.meta.dirname, 'echo-server.ts')] = process.argv.slice(2);
const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'ignore'] });
const waiting = new Map<number, (answer: Message) => void>();
let last = 0;
createInterface({ input: child.stdout }).on('line', (line) => {
  const answer = JSON.parse(line) as Message;
  waiting.get(answer.id)?.(answer);
  waiting.delete(answer.id);
});

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const message = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Message;
    const id = ++last;
    waiting.set(id, (answer) => {
      const text = JSON.stringify({ ...answer, id: message.id });
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) });
      response.end(text);
    });
    child.stdin.write(`${JSON.stringify({ ...message, id })}\n`);
  });
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: (server.address() as AddressInfo).port, headers: {} })));
process.stdin.resume().on('end', () => process.exit());
