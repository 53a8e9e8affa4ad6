import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { streamSSE } from 'hono/streaming';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import { AppError, errorEntry, toAppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import { type FormAnswer, readAnswer } from './answer-form.ts';
import { createAttendance } from './attendance.ts';
import type { Ctx, Env } from './context.ts';
import { type Html, page, securityHeaders } from './layout.ts';
import { createLive } from './live.ts';
import { foreignHost, foreignOrigin, foreignVisit } from './same-origin.ts';
import { HOME_SCRIPT, OPEN_SCRIPT, SCRIPT } from './script.ts';
import { lookAt, SECTIONS, TITLES } from './sections.ts';
import { addServerActs } from './server-acts.ts';
import { SESSION_MS, sameText } from './sessions.ts';
import type { PageParts } from './types.ts';

export interface Page {
  handle(request: IncomingMessage, response: ServerResponse): void;
  close(): Promise<void>;
}

const COOKIE = 'writ_operator';
const MAX_BODY_BYTES = 64 * 1024;
const KEEP_ALIVE_MS = 15_000;
/** Changes that a page may be behind. */
const MAX_UNREAD = 64;

/** What the last act came to; shown once on the page that follows. Only these words can be shown. */
const SAID: Readonly<Record<string, string>> = {
  approved: 'Approved.',
  remembered: 'Approved, and remembered.',
  denied: 'Denied.',
  already_decided: 'Somebody else had answered before.',
  expired: 'It was too late: the question has expired.',
  word: 'Nothing was decided: the word must be typed to approve this.',
  too_much: 'Nothing was decided: more would have been opened than was asked for.',
  operator_only: 'Nothing was decided: this can not be answered here.',
  not_found: 'That question is gone.',
  stopped: 'Stopped.',
  over: 'It had ended before.',
  revoked: 'Revoked.',
  added: 'Added.',
  changed: 'Changed.',
  removed: 'Removed.',
  reconnected: 'Its connection was ended and made anew.',
  installed: 'Installed.',
  nothing_newer: 'What is wanted is installed already.',
  forgotten: 'Forgotten: it is asked about again.',
  logged_in: 'Logged in.',
};

/**
 * The operator's page. A one-time link gives a browser a session; the session's address and its cookie open the page together. The cookie is
 * sent to that address only, since browsers send the cookies of one port of a machine to every other port, where an agent's
 * own web server may listen.
 */
export function createPage(parts: PageParts): Page {
  const { sessions } = parts;
  const attendance = createAttendance(parts.approvals);
  const live = createLive({
    look: (section) => lookAt(section, parts),
    onPresence: attendance.set,
    logger: parts.logger,
  });
  /** Open streams of events; each ends by its own call. Bounded by `live`. */
  const streams = new Set<() => void>();
  const by = { channel: 'page', who: parts.operator } as const;
  const app = new Hono<Env>();

  const refuse = (c: Ctx, status: 400 | 401 | 403 | 404 | 413, why: string): Response | Promise<Response> => {
    if (status !== 404) parts.refusals.record({ route: `${c.req.method} ${routeOf(c.req.path)}`, why });
    return c.html(document(c, 'Writ', html`<header><h1>Writ</h1></header><main><p class="empty">Refused: ${why}.</p></main>`), status);
  };

  app.use(async (c, next) => {
    c.set('nonce', randomBytes(18).toString('base64'));
    for (const [name, value] of Object.entries(securityHeaders(c.get('nonce')))) c.header(name, value);
    const why = foreignHost(saysOf(c), parts);
    if (why !== undefined) return refuse(c, 403, why);
    // A program's credential is for /mcp. That it is shown here is worth a row in the record.
    if (c.req.header('authorization') !== undefined) return refuse(c, 403, "an agent's credential opens /mcp and nothing else");
    const safe = c.req.method === 'GET' || c.req.method === 'HEAD';
    const foreign = safe ? foreignVisit(saysOf(c), c.req.header('sec-fetch-mode')) : foreignOrigin(saysOf(c), parts);
    if (foreign !== undefined) return refuse(c, 403, foreign);
    await next();
  });
  app.use(bodyLimit({ maxSize: MAX_BODY_BYTES, onError: (c) => refuse(c, 413, 'the request is too big') }));
  app.notFound((c) => refuse(c, 404, 'nothing is here'));
  app.onError((thrown, c) => {
    const error = toAppError(thrown);
    const level = error.code === 'internal' ? 'error' : 'warn';
    parts.logger[level]('the page could not do it', { route: routeOf(c.req.path), reason: error.message });
    const { message, fix = '' } = error.code === 'internal' ? new AppError('internal', 'An unexpected fault; the log says more.') : error;
    return c.html(
      document(
        c,
        'Writ',
        html`<header><h1>Writ</h1></header><main><p class="empty">It did not work: ${visible(`${message} ${fix}`)}</p></main>`,
      ),
      errorEntry(error.code).http as ContentfulStatusCode,
    );
  });

  app.get('/', (c) =>
    c.html(
      document(
        c,
        'Writ',
        html`<header><h1>Writ</h1></header><main><p class="empty">Writ ${parts.version} is running. Agents connect at <code>/mcp</code>. To see and decide, run <code>writ link</code> in a terminal and open what it prints.</p></main>`,
        HOME_SCRIPT,
      ),
    ),
  );

  // The key stands behind the # of the link, so that it reaches no log, no history of a proxy and no link preview.
  app.get('/open', (c) =>
    c.html(
      document(
        c,
        'Open Writ',
        html`<header><h1>Writ</h1></header><main><form id="open" method="post" action="/open"><input type="hidden" name="key"><noscript><p class="empty">This page needs JavaScript.</p></noscript></form>
<p id="nokey" class="empty" hidden>This link is incomplete. Run <code>writ link</code> in a terminal for a new one.</p></main>`,
        OPEN_SCRIPT,
      ),
    ),
  );
  app.post('/open', async (c) => {
    const key = (await formOf(c))?.get('key');
    if (typeof key !== 'string' || !(await parts.identity.links.use(key))) {
      return refuse(c, 401, 'this link was used before, is older than 10 minutes, or is none; `writ link` makes a new one');
    }
    const { session, secret } = sessions.begin();
    await parts.recordOpened();
    const path = `/op/${session.id}/`;
    const secure = parts.public_origin?.startsWith('https:') === true && c.req.header('origin') === parts.public_origin;
    setCookie(c, COOKIE, secret, { path, httpOnly: true, sameSite: 'Strict', secure, maxAge: SESSION_MS / 1_000 });
    return c.redirect(path, 303);
  });

  app.use('/op/:session/*', async (c, next) => {
    const session = sessions.find(c.req.param('session'), getCookie(c, COOKIE));
    if (session === undefined)
      return refuse(c, 401, 'this page is not open in this browser, or its time is over; `writ link` makes a new link');
    c.set('session', session);
    if (c.req.method === 'POST') {
      const form = await formOf(c);
      const csrf = form?.get('csrf');
      if (form === undefined || typeof csrf !== 'string' || !sameText(csrf, session.csrf))
        return refuse(c, 403, 'the form is not of this page');
      c.set('form', form);
    }
    await next();
  });
  const back = (c: Ctx, said: string): Response => c.redirect(`/op/${c.get('session').id}/?said=${said}`, 303);

  app.get('/op/:session/', async (c) => {
    const { csrf } = c.get('session');
    const said = SAID[c.req.query('said') ?? ''];
    const bodies = await Promise.all(SECTIONS.map(async (section) => (await lookAt(section, parts))(csrf)));
    const body = html`<header><h1>Writ</h1><span class="quiet" id="state" role="status">connecting ...</span>
<form method="post" action="leave"><input type="hidden" name="csrf" value="${csrf}"><button>Sign out</button></form></header>
<main>${said === undefined ? '' : html`<p class="said" role="status">${said}</p>`}<p id="live" class="sr" aria-live="polite"></p>
${SECTIONS.map((section, index) => html`<h2 id="h-${section}">${TITLES[section]}</h2><section id="${section}" tabindex="-1" aria-labelledby="h-${section}">${bodies[index] ?? ''}</section>`)}</main>`;
    return c.html(document(c, 'Writ', body, SCRIPT));
  });

  app.get('/op/:session/events', (c) => {
    const why = foreignOrigin(saysOf(c), parts);
    if (why !== undefined) return refuse(c, 403, why);
    return streamSSE(c, async (stream) => {
      const over = Promise.withResolvers<void>();
      let unread = 0;
      stream.onAbort(over.resolve);
      streams.add(over.resolve);
      const unwatch = live.watch(c.get('session').csrf, (section, text) => {
        unread += 1;
        // A browser that takes nothing connects again when it wakes up.
        if (unread > MAX_UNREAD) return over.resolve();
        void stream.writeSSE({ event: 'section', data: JSON.stringify({ id: section, html: text }) }).finally(() => {
          unread -= 1;
        });
      });
      // A comment now and then: whoever stays silent is taken for dead by what is in between. The session may end meanwhile too.
      const keepAlive = setInterval(() => {
        if (sessions.find(c.get('session').id, getCookie(c, COOKIE)) === undefined) over.resolve();
        else void stream.write(': here\n\n');
      }, KEEP_ALIVE_MS);
      if (unwatch === undefined) over.resolve();
      await over.promise;
      streams.delete(over.resolve);
      clearInterval(keepAlive);
      unwatch?.();
    });
  });

  app.post('/op/:session/approvals/:id', async (c) => {
    const record = await parts.approvals.get(c.req.param('id'));
    if (record === undefined) return back(c, 'not_found');
    const answer = readAnswer(c.get('form'), record);
    if ('problem' in answer) return refuse(c, 400, answer.problem);
    return back(c, await decide(record.id, answer));
  });

  async function decide(id: string, { reply, remember }: FormAnswer): Promise<string> {
    const answered = await parts.approvals.answer(id, reply, by);
    if (!answered.ok) return answered.reason;
    if (remember === undefined) return reply.decision === 'approve' ? 'approved' : 'denied';
    await parts.grants.make(answered.record, remember.scope, remember.ttl_ms, by);
    return 'remembered';
  }

  app.post('/op/:session/stop', async (c) => {
    const kind = c.get('form').get('kind');
    const id = String(c.get('form').get('id'));
    if (kind !== 'call' && kind !== 'job') return refuse(c, 400, 'there is nothing of that kind to stop');
    return back(c, (await parts.stop(kind, id)) ? 'stopped' : 'over');
  });
  app.post('/op/:session/tokens/revoke', async (c) =>
    back(c, (await parts.revokeToken(String(c.get('form').get('name')))) ? 'revoked' : 'over'),
  );
  app.post('/op/:session/grants/revoke', async (c) =>
    back(c, (await parts.grants.revoke(String(c.get('form').get('id')), by)) ? 'revoked' : 'over'),
  );
  addServerActs(app, {
    servers: parts.servers,
    back,
    show(c, body, status = 200) {
      const said = SAID[c.req.query('said') ?? ''];
      const whole = html`<header><h1>Writ</h1><a href="/op/${c.get('session').id}/">Back to all</a></header>
<main>${said === undefined ? '' : html`<p class="said" role="status">${said}</p>`}${body}</main>`;
      return c.html(document(c, 'Writ: MCP servers', whole), status);
    },
  });
  app.post('/op/:session/leave', (c) => {
    const { id } = c.get('session');
    sessions.end(id);
    setCookie(c, COOKIE, '', { path: `/op/${id}/`, httpOnly: true, sameSite: 'Strict', maxAge: 0 });
    return c.redirect('/?left', 303);
  });

  return {
    handle: getRequestListener(app.fetch, { overrideGlobalObjects: false }),
    async close() {
      live.close();
      for (const end of streams) end();
      await attendance.close();
    },
  };
}

function document(c: Ctx, title: string, body: Html, script?: string): Html {
  return page({ title, nonce: c.get('nonce'), body, ...(script === undefined ? {} : { script }) });
}

/** Undefined for a body that is no form. */
function formOf(c: Ctx): Promise<FormData | undefined> {
  return c.req.formData().catch(() => undefined);
}

function saysOf(c: Ctx): { readonly host: string | undefined; readonly origin: string | undefined; readonly site: string | undefined } {
  return { host: c.req.header('host'), origin: c.req.header('origin'), site: c.req.header('sec-fetch-site') };
}

/** Without what is in an address of a session. */
function routeOf(path: string): string {
  return path.replace(/^\/op\/[^/]*/, '/op/...').slice(0, 100);
}
