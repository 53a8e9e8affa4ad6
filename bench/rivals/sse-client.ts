import { Agent, request } from 'node:http';
import type { Exchange } from './exchange.ts';

/** A client of a server that speaks the first HTTP transport: one stream of events for all answers, messages are posted to the place that it names. */
export async function sseClient(port: number, path: string): Promise<Exchange> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const waiting = new Map<unknown, (message: unknown) => void>();
  const place = Promise.withResolvers<string>();
  const stream = request({ host: '127.0.0.1', port, path, headers: { accept: 'text/event-stream' } }, (response) => {
    if (response.statusCode !== 200) place.reject(new Error(`${response.statusCode} in place of a stream`));
    let text = '';
    response.setEncoding('utf8').on('data', (chunk: string) => {
      const events = (text + chunk).split('\n\n');
      text = events.pop() ?? '';
      for (const event of events) {
        const data = /^data: ?(.*)$/m.exec(event)?.[1] ?? '';
        if (event.startsWith('event: endpoint')) place.resolve(data);
        else if (data.startsWith('{')) {
          const message = JSON.parse(data) as { readonly id?: unknown };
          waiting.get(message.id)?.(message);
          waiting.delete(message.id);
        }
      }
    });
  });
  stream.on('error', place.reject);
  stream.end();
  const endpoint = await place.promise;

  const send = (text: string): Promise<void> =>
    new Promise((sent, failed) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const post = request({ host: '127.0.0.1', port, path: endpoint, method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => {
          if ((response.statusCode ?? 500) < 300) sent();
          else failed(new Error(`${response.statusCode} to ${text}`));
        });
      });
      post.on('error', failed);
      post.end(text);
    });

  return {
    async ask(message) {
      const answer = new Promise<unknown>((done) => waiting.set(message.id, done));
      await send(JSON.stringify({ jsonrpc: '2.0', ...message }));
      return answer;
    },
    tell: (message) => send(JSON.stringify({ jsonrpc: '2.0', ...message })),
    close() {
      stream.destroy();
      agent.destroy();
    },
  };
}
