import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '../kernel/errors.ts';
import { sendJson } from './health.ts';
import { foreignHost } from './page/same-origin.ts';
import type { Refusals } from './refusals.ts';

/** Where browsers come back to from the issuers of remote servers, and what tells those who this client is. */
export const LOGIN_CALLBACK = '/api/mcp/oauth/callback';
export const CLIENT_METADATA = '/api/mcp/oauth/client.json';

export interface LoginRoutesParts {
  /** Names in `Host` that are us. */
  readonly hosts: readonly string[];
  readonly refusals: Refusals;
  /** Ends the login that this answers. AppError for what was not begun here, was used, or was not granted. */
  finish(answer: URLSearchParams): Promise<{ readonly name: string }>;
  /** RFC 7591 members, by the address of the document (client-id-metadata-document); undefined: there is no public address. */
  readonly client: Readonly<Record<string, unknown>> | undefined;
}

/**
 * True: the request was one of these. The callback is the one thing that another site may lead a browser to: it does nothing without a state
 * that somebody of this home has begun a login with, which holds once.
 */
export function createLoginRoutes(parts: LoginRoutesParts): (request: IncomingMessage, response: ServerResponse) => boolean {
  return (request, response) => {
    const url = URL.parse(request.url ?? '', 'http://here');
    if (url?.pathname !== LOGIN_CALLBACK && url?.pathname !== CLIENT_METADATA) return false;
    const foreign = foreignHost({ host: request.headers.host }, { hosts: parts.hosts, public_origin: undefined });
    if (foreign !== undefined) {
      parts.refusals.record({ route: `GET ${url.pathname}`, why: foreign });
      sendJson(response, 403, { error: foreign });
    } else if (request.method !== 'GET') sendJson(response, 405, { error: 'method not allowed' }, { allow: 'GET' });
    else if (url.pathname === CLIENT_METADATA) {
      if (parts.client === undefined) sendJson(response, 404, { error: 'there is no public address' });
      else sendJson(response, 200, parts.client);
    } else {
      parts.finish(url.searchParams).then(
        ({ name }) => say(response, 200, `Writ is logged in to ${name}. You can close this window.`),
        (thrown: unknown) => {
          const why = thrown instanceof AppError ? thrown.message : 'The login failed.';
          parts.refusals.record({ route: `GET ${LOGIN_CALLBACK}`, why });
          say(response, 400, why);
        },
      );
    }
    return true;
  };
}

function say(response: ServerResponse, status: number, text: string): void {
  response
    .writeHead(status, {
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'x-content-type-options': 'nosniff',
      // The address holds a code.
      'referrer-policy': 'no-referrer',
    })
    .end(`${text}\n`);
}
