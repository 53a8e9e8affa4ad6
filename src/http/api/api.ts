import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Identity } from '../../identity/types.ts';
import { toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { foreignHost, foreignOrigin } from '../page/same-origin.ts';
import type { OperatorSessions } from '../page/sessions.ts';
import type { Refusals } from '../refusals.ts';
import type { ServersOnDemand } from '../servers/types.ts';
import { openBody } from './bodies.ts';
import { type Problem, problem, problemOf } from './problem.ts';
import { readBody } from './read-body.ts';
import { serverRoutes } from './server-routes.ts';

export interface ApiParts {
  readonly sessions: OperatorSessions;
  readonly servers: ServersOnDemand;
  readonly identity: Pick<Identity, 'links'>;
  /** Somebody opened a one-time link. */
  recordOpened(): Promise<void>;
  readonly refusals: Refusals;
  readonly hosts: readonly string[];
  readonly public_origin: string | undefined;
  readonly logger: Logger;
}

export const API = '/api/';

/**
 * The HTTP API of the operator's programs. What opens it is a session, as for the page, which a program gets for the key of a one-time link.
 * It is shown as a bearer token: a browser doesn't send that by itself, so that no page of another site can use it, and a cookie opens nothing here.
 */
export function createApi(parts: ApiParts): (request: IncomingMessage, response: ServerResponse) => void {
  const app = new Hono();

  const refuse = (c: Context, refusal: Problem): Response => {
    parts.refusals.record({ route: `${c.req.method} ${c.req.path.slice(0, 100)}`, why: refusal.detail });
    if (refusal.status === 401) c.header('www-authenticate', 'Bearer realm="writ operator"');
    return problem(c, refusal);
  };
  const forbidden = (c: Context, detail: string): Response => refuse(c, { status: 403, code: 'denied_by_policy', detail });

  app.use(async (c, next) => {
    c.header('cache-control', 'no-store');
    c.header('x-content-type-options', 'nosniff');
    c.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
    const says = { host: c.req.header('host'), origin: c.req.header('origin'), site: c.req.header('sec-fetch-site') };
    const strange = foreignHost(says, parts);
    if (strange !== undefined) return forbidden(c, strange);
    // Programs say neither of these; a browser says at least one, and then it must be a page of ours.
    const foreign = says.origin === undefined && says.site === undefined ? undefined : foreignOrigin(says, parts);
    if (foreign !== undefined) return forbidden(c, foreign);
    await next();
  });

  app.post('/api/session', async (c) => {
    const body = await readBody(c, openBody);
    if (body instanceof Response) return body;
    if (!(await parts.identity.links.use(body.key))) {
      const detail = 'This key was used before, is older than 10 minutes, or is none.';
      return refuse(c, { status: 401, code: 'denied_by_policy', detail, fix: '`writ link` makes a new one: the part behind the #.' });
    }
    const { session, secret } = parts.sessions.begin();
    await parts.recordOpened();
    return c.json({ token: `${session.id}.${secret}`, expires_at: session.expires_at }, 201);
  });

  app.use(async (c, next) => {
    const [, id, secret] = /^Bearer +([\w-]+)\.([\w-]+)$/i.exec(c.req.header('authorization') ?? '') ?? [];
    if (id === undefined || parts.sessions.find(id, secret) === undefined) {
      const fix = '`writ link` in a terminal makes a key; POST it to /api/session.';
      if (/^Bearer +writ_/i.test(c.req.header('authorization') ?? '')) {
        return refuse(c, { status: 403, code: 'denied_by_policy', detail: "An agent's credential opens /mcp and nothing else.", fix });
      }
      return refuse(c, { status: 401, code: 'denied_by_policy', detail: 'The session of an operator is needed.', fix });
    }
    await next();
    // Whoever asks is known; only now do they hear what is there and what isn't.
    if (c.req.path === '/api/session' && c.req.method === 'DELETE' && c.res.ok) parts.sessions.end(id);
  });
  app.delete('/api/session', (c) => c.body(null, 204));
  app.route('/api/mcp', serverRoutes(parts.servers));

  app.notFound((c) => problem(c, { status: 404, code: 'not_found', detail: 'Nothing is here.' }));
  app.onError((thrown, c) => {
    const error = toAppError(thrown);
    if (error.code === 'internal') parts.logger.error('the API failed', { route: c.req.path.slice(0, 100), reason: error.message });
    return problem(c, problemOf(error));
  });
  return getRequestListener(app.fetch, { overrideGlobalObjects: false });
}
