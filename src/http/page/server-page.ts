import { html } from 'hono/html';
import { visible } from '../../kernel/visible.ts';
import type { UpstreamSettings } from '../../upstreams/index.ts';
import type { Asked, PackageRow, ServerDetail, ToolRow } from '../servers/types.ts';
import { type Html, time } from './layout.ts';
import { stateOf, toolsOf } from './servers.ts';

/** Most tools on one page, those that wait for an answer first; more are counted. */
const MOST_TOOLS = 100;
/** Characters of a description; hosts are given all of it. */
const MOST_TEXT = 2_000;

/** What is recorded of a tool. */
const PINNED: Readonly<Record<NonNullable<ToolRow['pin']>['state'], string>> = {
  seen: 'first seen',
  asked: 'first seen',
  approved: 'approved',
  changed: 'approved or first seen as it was',
  denied: 'denied',
};

interface Around {
  readonly csrf: string;
  /** What it wrote on standard error. */
  readonly log: readonly string[];
}

/** One MCP server: how it is, what waits for a person, its tools, and what can be done with it. */
export function serverPage(server: ServerDetail, around: Around): Html {
  const own = server.source === 'operator';
  const act = buttons(server, around.csrf);
  return html`<h2>${visible(server.name)}</h2>
${notes(server)}<dl class="card plain">${facts(server)}</dl>
${server.asked === undefined ? '' : question(server, server.asked, act)}
<div class="row">${installing(server, act)}${act('reconnect', {}, 'Reconnect')}${own ? act('enable', { on: String(!server.enabled) }, server.enabled ? 'Disable' : 'Enable') : ''}${
    server.login ? act('login', {}, 'Log in ...') : ''
  }${server.denied ? act('revoke', {}, 'Take back the no') : ''}<a href="">Look again</a></div>
${toolList(server, act)}
<details><summary>What it wrote on standard error</summary>${
    around.log.length === 0
      ? html`<p class="empty">Nothing, as long as this server of Writ has run.</p>`
      : html`<pre tabindex="0" aria-label="standard error">${around.log.join('\n')}</pre>`
  }</details>
${own ? html`<details><summary>Remove ...</summary><p>It is taken out of your configuration, and what was approved of it is forgotten. The file as it was is kept.</p>${act('remove', {}, 'Remove this server', 'stop')}</details>` : ''}`;
}

type Act = (
  action: string,
  fields: Readonly<Record<string, string | readonly string[]>>,
  text: string,
  kind?: 'go' | 'stop',
  label?: string,
) => Html;

/** Forms of one button, each about this server. */
function buttons({ name, project }: ServerDetail, csrf: string): Act {
  return (action, fields, text, kind, label) => {
    const all = Object.entries({ csrf, name, ...(project === undefined ? {} : { project }), ...fields });
    const hidden = all.flatMap(([key, value]) => [value].flat().map((each) => html`<input type="hidden" name="${key}" value="${each}">`));
    return html`<form method="post" action="server/${action}">${hidden}<button class="${kind ?? ''}" aria-label="${label ?? text}">${text}</button></form>`;
  };
}

function notes({ problems, warnings }: ServerDetail): Html {
  return html`${[...problems, ...warnings].map(({ message, fix }) => html`<div class="warn" role="note">${visible(message)}${fix === undefined ? '' : html`<br>${visible(fix)}`}</div>`)}`;
}

/** A package is fetched by an act of a person and never by a start. */
function installing({ package: found }: ServerDetail, act: Act): Html | '' {
  if (found?.state === 'missing' || found?.state === 'changed') return act('install', { update: 'false' }, 'Install its package', 'go');
  return found?.state === 'installed' ? act('install', { update: 'true' }, 'Look for a newer version') : '';
}

function packageText({ name, version, integrity, reason }: PackageRow): string {
  return visible(name === undefined ? (reason ?? '') : `${name} ${version ?? ''}${integrity === undefined ? '' : `, ${integrity}`}`);
}

function question({ settings }: ServerDetail, asked: Asked, act: Act): Html {
  return html`<article class="card" aria-labelledby="may-start"><h3 id="may-start">May it be started?</h3><p>${visible(asked.reason)}</p>
${difference('what it is', asked)}<p class="quiet">A yes lets it run ${settings?.transport.type === 'stdio' ? 'in its own sandbox, exactly so' : 'exactly so'}. Its tools are asked about once it has shown them.</p>
<div class="row">${act('deny', {}, 'Deny', 'stop', 'Deny: it is never started')}${act('approve', { sha256: asked.sha256 }, 'Let it be started', 'go')}</div></article>`;
}

function difference(label: string, { difference: lines }: Asked): Html {
  return html`<pre tabindex="0" aria-label="${label}">${lines.join('\n')}</pre>`;
}

function facts(server: ServerDetail): Html {
  const { settings, identity, since, restarts, last_error, reason, project } = server;
  const rows: (readonly [string, Html | string])[] = [
    ['state', html`${stateOf(server)}${reason === undefined ? '' : html` ${visible(reason)}`}`],
    ['from', project === undefined ? 'your configuration' : `the project ${visible(project)}`],
    ...(since === undefined ? [] : [['since (UTC)', time(since)] as const]),
    ...(identity === undefined
      ? []
      : [['it says it is', visible(`${identity.name} ${identity.version}, protocol ${identity.protocol}`)] as const]),
    ...(toolsOf(server) === '' ? [] : [['tools', toolsOf(server)] as const]),
    ...(restarts === undefined ? [] : [['restarts', String(restarts)] as const]),
    ...(last_error === undefined || last_error === reason ? [] : [['last error', visible(last_error)] as const]),
    ...(server.package === undefined ? [] : [['package', packageText(server.package)] as const]),
    ...(settings === undefined ? [] : settingRows(settings)),
  ];
  return html`${rows.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}`;
}

function settingRows({ transport, roots, network, timeout_ms }: UpstreamSettings): (readonly [string, Html | string])[] {
  const reach =
    typeof network === 'string' ? network : [...network.hosts, ...network.presets.map((preset) => `preset ${preset}`)].join(', ') || 'none';
  const how: (readonly [string, Html | string])[] =
    transport.type === 'stdio'
      ? [
          ['runs', html`<code>${[transport.command, ...transport.args].map((word) => visible(JSON.stringify(word))).join(' ')}</code>`],
          ['variables', listed(Object.entries(transport.env).map(([name, value]) => `${name}=${value}`))],
          ['sees', listed(roots.map(({ path, access }) => `${path} (${access === 'write' ? 'may write' : 'reads'})`))],
          ['network', visible(reach)],
        ]
      : [
          ['reaches', html`<code>${visible(transport.url)}</code> (${transport.type})`],
          ['headers', listed(Object.keys(transport.headers))],
        ];
  return [...how, ['a call', `at most ${timeout_ms / 1000} s`]];
}

function listed(items: readonly string[]): string {
  return items.length === 0 ? 'none' : items.map(visible).join(', ');
}

function toolList(server: ServerDetail, act: Act): Html {
  const { tool_list: tools } = server;
  if (tools.length === 0) return html`<h2>Tools</h2><p class="empty">It has shown none yet. They are known once it was connected.</p>`;
  const asking = tools.filter(({ asked }) => asked !== undefined);
  const shown = [...asking, ...tools.filter(({ asked }) => asked === undefined)].slice(0, MOST_TOOLS);
  const answerable = shown.flatMap(({ name, asked }) => (asked === undefined ? [] : [{ name, sha256: asked.sha256 }]));
  const more =
    tools.length > shown.length
      ? html`<p class="quiet">${tools.length - shown.length} more are not shown; the HTTP API and <code>writ upstream tools</code> have all.</p>`
      : '';
  const all = { tool: answerable.map(({ name }) => name), sha256: answerable.map(({ sha256 }) => sha256) };
  return html`<h2>Tools</h2>${answerable.length < 2 ? '' : html`<div class="row">${act('approve-tools', all, `Approve all ${answerable.length} that wait`, 'go')}</div>`}
<ul class="tools">${shown.map((tool) => html`<li>${toolItem(tool, server, act)}</li>`)}</ul>${more}`;
}

function toolItem(tool: ToolRow, { source }: ServerDetail, act: Act): Html {
  const { name, exposed, description, state, reason, flags, off, pin, asked } = tool;
  const given = visible(name);
  return html`<h3>${given}${exposed === undefined ? '' : html` <code class="quiet">${exposed}</code>`}</h3>
<p>${state === 'needs_approval' ? html`<span class="effect">needs approval</span>` : state === 'recorded' ? 'not there just now' : state}${reason === undefined ? '' : html`: ${visible(reason)}`}</p>
${flags.map((flag) => html`<div class="warn" role="note">${visible(flag)}</div>`)}
${description === undefined || pin?.state === 'asked' ? '' : html`<pre tabindex="0" aria-label="description of ${given}, its own words">${ownWords(description)}</pre>`}
${pin === undefined ? '' : html`<p class="quiet">${PINNED[pin.state]}${pin.by === undefined ? '' : ` by ${visible(pin.by)}`}, ${time(pin.at)} UTC${pin.schema === undefined ? '' : html`; input schema ${pin.schema.bytes} bytes, SHA-256 <code>${pin.schema.sha256}</code>`}</p>`}
${asked === undefined ? '' : html`${reason === undefined ? html`<p>${visible(asked.reason)}</p>` : ''}${asked.difference.length === 0 ? '' : difference(`what is new in ${given}`, asked)}`}
<div class="row">${asked === undefined ? '' : html`${act('deny', { tool: name }, 'Deny', 'stop', `Deny ${given}`)}${act('approve-tools', { tool: name, sha256: asked.sha256 }, 'Approve', 'go', `Approve ${given}`)}`}${
    source === 'operator'
      ? act('tool', { tool: name, on: String(off) }, off ? 'Turn on' : 'Turn off', undefined, `Turn ${off ? 'on' : 'off'} ${given}`)
      : ''
  }${pin?.state === 'denied' ? act('revoke', { tool: name }, 'Take back the no', undefined, `Take back the no to ${given}`) : ''}</div>`;
}

function ownWords(text: string): string {
  const left = text.length - MOST_TEXT;
  const shown = (left > 0 ? text.slice(0, MOST_TEXT).toWellFormed() : text).split('\n').map(visible).join('\n');
  return left > 0 ? `${shown} ... (and ${left} more characters)` : shown;
}

/** A login that was begun: where the person goes, and where they bring what the browser ended at. */
export function loginPage(
  { name, project }: Pick<ServerDetail, 'name' | 'project'>,
  address: string,
  redirect_uri: string,
  csrf: string,
): Html {
  return html`<h2>Log in to ${visible(name)}</h2>
<p><a href="${address}" target="_blank" rel="noopener noreferrer">Agree at ${visible(new URL(address).host)}</a> (opens a new window). It holds for 10 minutes.</p>
<p>The browser comes back to <code>${visible(redirect_uri)}</code>. If it can't reach that, because it is on another machine, paste the address that it ended at:</p>
<form method="post" action="server/exchange" class="card plain" autocomplete="off"><input type="hidden" name="csrf" value="${csrf}"><input type="hidden" name="name" value="${name}">${
    project === undefined ? '' : html`<input type="hidden" name="project" value="${project}">`
  }<label>Address the browser ended at <input type="text" name="callback_url" maxlength="16384" spellcheck="false"></label><div class="row"><button class="go">Finish the login</button></div></form>`;
}
