import { html } from 'hono/html';
import { visible } from '../../kernel/visible.ts';
import type { ServerRow } from '../servers/types.ts';
import type { Html } from './layout.ts';

/** Most servers listed; more are counted. */
const MOST = 200;
const SHOWN = 300;

/** All MCP servers in one table; each has a page of its own, where people can read and type in peace while this one changes. */
export function serverTable({ servers, problem }: { readonly servers: readonly ServerRow[]; readonly problem?: string }): Html {
  const said = problem === undefined ? '' : html`<div class="warn" role="note">${visible(problem)}</div>`;
  const add = html`<p><a href="add-server">Add a server</a></p>`;
  if (servers.length === 0)
    return html`${said}${problem === undefined ? html`<p class="empty">No MCP server is configured.</p>` : ''}${add}`;
  const more =
    servers.length > MOST
      ? html`<p class="quiet">${servers.length - MOST} more are not shown; <code>writ upstream list</code> has all.</p>`
      : '';
  return html`${said}<table><thead><tr><th scope="col">Server</th><th scope="col">State</th><th scope="col">Tools</th><th scope="col">Last error</th></tr></thead><tbody>${servers
    .slice(0, MOST)
    .map(
      (server) => html`<tr><td data-label="Server"><a href="${addressOf(server)}">${visible(server.name)}</a>${
        server.project === undefined ? '' : html`<br><span class="quiet">of the project ${visible(server.project)}</span>`
      }</td>
<td data-label="State">${stateOf(server)}${server.waiting === 0 ? '' : html` <span class="effect">${waitingText(server.waiting)}</span>`}${server.reason === undefined ? '' : html`<br><span class="quiet">${cut(server.reason)}</span>`}</td>
<td data-label="Tools" class="nowrap">${toolsOf(server)}</td><td data-label="Last error">${server.last_error === undefined || server.last_error === server.reason ? '' : cut(server.last_error)}</td></tr>`,
    )}</tbody></table>${more}${add}`;
}

/** Below the address of the session. */
export function addressOf({ name, project }: Pick<ServerRow, 'name' | 'project'>, said?: string): string {
  const query = new URLSearchParams({ name, ...(project === undefined ? {} : { project }), ...(said === undefined ? {} : { said }) });
  return `server?${query}`;
}

export function waitingText(count: number): string {
  return count === 1 ? '1 tool waits for you' : `${count} tools wait for you`;
}

/** Where a person is needed stands out. */
export function stateOf({ state }: Pick<ServerRow, 'state'>): Html {
  const word = state.replace('_', ' ');
  const calls = state === 'needs_approval' || state === 'quarantined' || state === 'needs_auth' || state === 'needs_install';
  return calls ? html`<span class="effect">${word}</span>` : html`${word}`;
}

export function toolsOf({ tools }: Pick<ServerRow, 'tools'>): string {
  if (tools === undefined || tools.all === 0) return '';
  return tools.disabled === 0 ? String(tools.all) : `${tools.enabled} of ${tools.all} on`;
}

export function cut(text: string): string {
  return visible(text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()} ...` : text);
}
