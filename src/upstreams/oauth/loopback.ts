import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AppError, errnoOf } from '../../kernel/errors.ts';

/** Where a browser of this machine comes back to. */
export interface Loopback {
  readonly redirect_uri: string;
  /** Told of everything that arrives there; what it resolves to is shown to the person. */
  onAnswer(take: (answer: URLSearchParams) => Promise<string>): void;
  close(): void;
}

const PATH = '/callback';

/** RFC 8252, 7.3: on the loopback address only. `port` 0: any that is free. */
export async function openLoopback(port: number): Promise<Loopback> {
  let take: (answer: URLSearchParams) => Promise<string> = async () => 'Not yet.';
  const server = createServer({ maxHeaderSize: 16_384 }, (request, response) => {
    const url = URL.parse(request.url ?? '', 'http://127.0.0.1');
    const host = request.headers.host?.replace(/:\d+$/, '');
    if (request.method !== 'GET' || url?.pathname !== PATH || (host !== '127.0.0.1' && host !== 'localhost')) {
      return say(response, 404, 'Nothing is here.');
    }
    take(url.searchParams).then(
      (text) => say(response, 200, text),
      (thrown: unknown) => say(response, 400, thrown instanceof AppError ? thrown.message : 'The login failed.'),
    );
  });
  server.maxConnections = 16;
  await new Promise<void>((resolve, reject) => {
    server.once('error', (thrown) =>
      reject(
        new AppError('address_in_use', `The callback can't listen on 127.0.0.1:${port} (${errnoOf(thrown) ?? thrown.message}).`, {
          fix: 'Free that port, or take "oauth.callback_port" out of the entry.',
        }),
      ),
    );
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    redirect_uri: `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`,
    onAnswer(given) {
      take = given;
    },
    close() {
      server.close();
      server.closeIdleConnections();
    },
  };
}

function say(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'",
      'x-content-type-options': 'nosniff',
      connection: 'close',
    })
    .end(`${text}\n`);
}
