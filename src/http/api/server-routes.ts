import { type Context, Hono } from 'hono';
import { AppError } from '../../kernel/errors.ts';
import type { UpstreamKey } from '../../upstreams/index.ts';
import type { Answered, Changed, ServersOnDemand } from '../servers/types.ts';
import { addBody, approveBody, changeBody, disabledBody, exchangeBody, installBody, toolsBody } from './bodies.ts';
import { problem } from './problem.ts';
import { readBody } from './read-body.ts';

const LINES = 100;
/** As many as are kept. */
const MOST_LINES = 500;

/** `servers` and `oauth` below `/api/mcp`. A server of a project is named with its folder: `?project=/its/real/path`. */
export function serverRoutes({ list, whole }: ServersOnDemand): Hono {
  const app = new Hono();
  const one = '/servers/:name';

  app.get('/servers', async (c) => c.json(await list()));

  app.post('/servers', async (c) => {
    const body = await readBody(c, addBody);
    if (body instanceof Response) return body;
    const added = await (await whole()).add(body);
    return added.type === 'done' ? c.json(await written(body.name, added), 201) : notDone(c, body.name, added);
  });

  app.get(one, async (c) => c.json(await (await whole()).get(keyOf(c))));

  app.patch(one, async (c) => {
    const body = await readBody(c, changeBody);
    if (body instanceof Response) return body;
    const { name } = ofOperator(c);
    const { enabled, settings = {} } = body;
    const switches = enabled === undefined ? {} : { enabled, disabled: null };
    const changed =
      Object.keys(settings).length === 0 && enabled !== undefined
        ? await (await whole()).enable(name, enabled)
        : await (await whole()).change(name, { ...settings, ...switches });
    return changed.type === 'done' ? c.json(await written(name, changed)) : notDone(c, name, changed);
  });

  app.delete(one, async (c) => c.json(await (await whole()).remove(ofOperator(c).name)));

  app.get(`${one}/tools`, async (c) => c.json({ tools: (await (await whole()).get(keyOf(c))).tool_list }));

  app.patch(`${one}/tools`, async (c) => {
    const body = await readBody(c, disabledBody);
    if (body instanceof Response) return body;
    const { name } = ofOperator(c);
    const changed = await (await whole()).disableTools(name, body.disabled);
    return changed.type === 'done' ? c.json(await written(name, changed)) : notDone(c, name, changed);
  });

  app.post(`${one}/reconnect`, async (c) => {
    const key = keyOf(c);
    await (await whole()).reconnect(key);
    return c.json(await (await whole()).get(key));
  });

  app.post(`${one}/install`, async (c) => {
    const body = await readBody(c, installBody, { optional: true });
    if (body instanceof Response) return body;
    const key = keyOf(c);
    const servers = await whole();
    const installed = await servers.install(key, body);
    return c.json({ ...(await servers.get(key)), installed });
  });

  app.get(`${one}/logs`, async (c) => {
    const lines = c.req.query('lines') ?? String(LINES);
    if (!/^\d{1,3}$/.test(lines) || Number(lines) > MOST_LINES)
      return problem(c, { status: 400, code: 'invalid_arguments', detail: `"lines" must be a whole number from 0 to ${MOST_LINES}.` });
    return c.json({ lines: await (await whole()).log(keyOf(c), Number(lines)) });
  });

  app.post(`${one}/approve`, async (c) => {
    const body = await readBody(c, approveBody);
    if (body instanceof Response) return body;
    const key = keyOf(c);
    return answered(
      c,
      'tools' in body ? await (await whole()).approveTools(key, body.tools) : await (await whole()).approve(key, body.sha256),
    );
  });

  app.post(`${one}/deny`, async (c) => {
    const body = await readBody(c, toolsBody, { optional: true });
    if (body instanceof Response) return body;
    await (await whole()).deny(keyOf(c), body.tools);
    return c.json({ denied: body.tools ?? [c.req.param('name')] });
  });

  app.post(`${one}/revoke`, async (c) => {
    const body = await readBody(c, toolsBody, { optional: true });
    if (body instanceof Response) return body;
    return c.json({ forgotten: await (await whole()).revoke(keyOf(c), body.tools) });
  });

  app.get('/oauth/authorize/:name', async (c) => c.json(await (await whole()).authorize(keyOf(c))));

  app.post('/oauth/exchange/:name', async (c) => {
    const body = await readBody(c, exchangeBody);
    if (body instanceof Response) return body;
    await (await whole()).exchange(keyOf(c), body.callback_url);
    return c.json({ logged_in: c.req.param('name') });
  });

  async function written(name: string, { backup, secrets }: Changed & { readonly type: 'done' }): Promise<object> {
    return {
      ...(await (await whole()).get({ name, project: null })),
      secrets_stored: secrets,
      ...(backup === undefined ? {} : { backup }),
    };
  }
  return app;
}

function keyOf(c: Context): UpstreamKey {
  return { name: c.req.param('name') ?? '', project: c.req.query('project') ?? null };
}

/** A project's file isn't Writ's to write, and the operator's server of the same name isn't the one that was meant. */
function ofOperator(c: Context): { readonly name: string } {
  const { name, project } = keyOf(c);
  if (project === null) return { name };
  throw new AppError('invalid_arguments', `"${name.slice(0, 80)}" stands in a file of ${project.slice(0, 300)}, which only people edit.`, {
    fix: 'Change it in that file; approvals and logs of it are here.',
  });
}

function notDone(c: Context, name: string, changed: Exclude<Changed, { readonly type: 'done' }>): Response {
  switch (changed.type) {
    case 'taken':
      return problem(c, {
        status: 409,
        code: 'invalid_arguments',
        detail: `There is a server "${name}" already.`,
        fix: 'Choose another name, or say "replace": true.',
      });
    case 'invalid': {
      const detail = `${changed.problems.map(({ message }) => message).join('; ')}. Nothing was written.`;
      return problem(c, { status: 422, code: 'invalid_arguments', detail, more: { problems: changed.problems } });
    }
    case 'not_connected': {
      const { state, reason, log } = changed;
      return problem(c, {
        status: 502,
        code: 'upstream_unavailable',
        detail: `"${name}" could not be connected, so nothing was written: ${state}${reason === '' ? '' : `: ${reason}`}`,
        fix: 'Mend that, or say "connect": false to write it all the same.',
        more: { state, log },
      });
    }
  }
}

/** All or some: what was shown may have changed in between. */
function answered(c: Context, answers: readonly Answered[]): Response {
  return c.json({ answered: answers }, answers.every(({ ok }) => ok) ? 200 : 409);
}
