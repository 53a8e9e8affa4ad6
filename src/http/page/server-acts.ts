import type { Hono } from 'hono';
import { html } from 'hono/html';
import type { UpstreamKey } from '../../upstreams/index.ts';
import type { Answered, Changed, OperatorServers, ServersOnDemand } from '../servers/types.ts';
import { addServerPage, readAddServer, typedIn } from './add-server.ts';
import type { Ctx, Env } from './context.ts';
import { textOf } from './form.ts';
import type { Html } from './layout.ts';
import { loginPage, serverPage } from './server-page.ts';
import { addressOf } from './servers.ts';

export interface ServerActsParts {
  readonly servers: ServersOnDemand;
  /** A page of its own, with the way back. */
  show(c: Ctx, body: Html, status?: 200 | 404 | 409 | 422): Response | Promise<Response>;
  back(c: Ctx, said: string): Response;
}

const LINES = 100;

/** Of everything that can be done with one server: what comes of it, for the line above its page. */
const ACTS: Readonly<Record<string, (servers: OperatorServers, key: UpstreamKey, form: FormData) => Promise<string | Refused>>> = {
  reconnect: async (servers, key) => {
    await servers.reconnect(key);
    return 'reconnected';
  },
  install: async (servers, key, form) =>
    (await servers.install(key, { update: textOf(form, 'update') === 'true', hosts: [] })) ? 'installed' : 'nothing_newer',
  enable: async (servers, { name }, form) => saidOf(await servers.enable(name, textOf(form, 'on') === 'true')),
  tool: async (servers, key, form) => {
    const tool = textOf(form, 'tool');
    const off = (await servers.get(key)).tool_list.filter((each) => each.off).map((each) => each.name);
    const next = textOf(form, 'on') === 'true' ? off.filter((each) => each !== tool) : [...off, tool];
    return saidOf(await servers.disableTools(key.name, next));
  },
  approve: async (servers, key, form) => answered(await servers.approve(key, textOf(form, 'sha256'))),
  'approve-tools': async (servers, key, form) => {
    const digests = form.getAll('sha256').map(String);
    const tools = form.getAll('tool').map((tool, index) => ({ name: String(tool), sha256: digests[index] ?? '' }));
    return answered(await servers.approveTools(key, tools));
  },
  deny: async (servers, key, form) => {
    await servers.deny(key, toolsOf(form));
    return 'denied';
  },
  revoke: async (servers, key, form) => {
    await servers.revoke(key, toolsOf(form));
    return 'forgotten';
  },
  exchange: async (servers, key, form) => {
    await servers.exchange(key, textOf(form, 'callback_url'));
    return 'logged_in';
  },
};

interface Refused {
  readonly why: string;
}

/** What the page can do with MCP servers. Everything but looking is a POST with the token of the page's forms, which was checked before. */
export function addServerActs(app: Hono<Env>, { servers, show, back }: ServerActsParts): void {
  const at = '/op/:session';
  const refuse = (c: Ctx, why: string): Response | Promise<Response> => show(c, html`<p class="empty">It was not done: ${why}</p>`, 409);

  app.get(`${at}/server`, async (c) => {
    const key = { name: c.req.query('name') ?? '', project: c.req.query('project') ?? null };
    const all = await servers.whole();
    const server = await all.get(key);
    // An entry that can't be used has never run.
    const log = server.settings === undefined ? [] : await all.log(key, LINES);
    return show(c, serverPage(server, { csrf: c.get('session').csrf, log }));
  });

  app.get(`${at}/add-server`, (c) => show(c, addServerPage(c.get('session').csrf)));
  app.post(`${at}/add-server`, async (c) => {
    const { csrf } = c.get('session');
    const typed = typedIn(c.get('form'));
    const again = (problems: readonly string[]) => show(c, addServerPage(csrf, typed, problems), 422);
    const wanted = readAddServer(typed);
    if ('problem' in wanted) return again([wanted.problem]);
    const problems = problemsOf(wanted.name, await (await servers.whole()).add(wanted));
    return problems.length > 0 ? again(problems) : backTo(c, { name: wanted.name, project: null }, 'added');
  });

  app.post(`${at}/server/remove`, async (c) => {
    await (await servers.whole()).remove(keyIn(c.get('form')).name);
    return back(c, 'removed');
  });

  app.post(`${at}/server/login`, async (c) => {
    const key = keyIn(c.get('form'));
    const { authorization_url, redirect_uri } = await (await servers.whole()).authorize(key);
    // The server's issuer chose it; a browser must take it for nothing else than an address.
    if (!/^https?:$/.test(URL.parse(authorization_url)?.protocol ?? '')) return refuse(c, 'its issuer gave no address of a web page.');
    return show(c, loginPage({ name: key.name, ...projectOf(key) }, authorization_url, redirect_uri, c.get('session').csrf));
  });

  app.post(`${at}/server/:act`, async (c) => {
    const act = Object.hasOwn(ACTS, c.req.param('act')) ? ACTS[c.req.param('act')] : undefined;
    if (act === undefined) return c.notFound();
    const key = keyIn(c.get('form'));
    const said = await act(await servers.whole(), key, c.get('form'));
    return typeof said === 'string' ? backTo(c, key, said) : refuse(c, said.why);
  });

  function backTo(c: Ctx, key: UpstreamKey, said: string): Response {
    return c.redirect(`/op/${c.get('session').id}/${addressOf({ name: key.name, ...projectOf(key) }, said)}`, 303);
  }
}

function saidOf(changed: Changed): string | Refused {
  const problems = problemsOf('', changed);
  return problems.length === 0 ? 'changed' : { why: problems.join('; ') };
}

function problemsOf(name: string, changed: Changed): readonly string[] {
  switch (changed.type) {
    case 'done':
      return [];
    case 'taken':
      return [`There is a server "${name}" already.`];
    case 'invalid':
      return changed.problems.map(({ message, fix }) => (fix === undefined ? message : `${message} (${fix})`));
    case 'not_connected':
      return [
        `It could not be connected: ${changed.state}${changed.reason === '' ? '' : `: ${changed.reason}`}`,
        ...changed.log.slice(-10),
      ];
  }
}

function answered(answers: readonly Answered[]): string | Refused {
  const not = answers.flatMap(({ ok, message }) => (ok ? [] : [message ?? 'it is another one now']));
  return not.length === 0 ? 'approved' : { why: not.join('; ') };
}

function toolsOf(form: FormData): readonly string[] | undefined {
  const tools = form.getAll('tool').map(String);
  return tools.length === 0 ? undefined : tools;
}

function keyIn(form: FormData): UpstreamKey {
  const project = form.get('project');
  return { name: textOf(form, 'name'), project: typeof project === 'string' ? project : null };
}

function projectOf({ project }: UpstreamKey): { readonly project?: string } {
  return project === null ? {} : { project };
}
