import { html } from 'hono/html';
import type { ApprovalRecord, Grant } from '../../approvals/types.ts';
import type { RecordedEvent } from '../../audit/index.ts';
import type { AgentToken } from '../../identity/types.ts';
import { toAppError } from '../../kernel/errors.ts';
import { visible } from '../../kernel/visible.ts';
import { type Html, time } from './layout.ts';
import { grantText, question } from './question.ts';
import { serverTable } from './servers.ts';
import type { PageParts, RunningItem } from './types.ts';

/** The parts of the page that change by themselves. Each is a heading and what is below it. */
export const SECTIONS = ['questions', 'running', 'servers', 'decisions', 'agents'] as const;
export type Section = (typeof SECTIONS)[number];

export const TITLES: Readonly<Record<Section, string>> = {
  questions: 'Waiting for an answer',
  running: 'Running now',
  servers: 'MCP servers',
  decisions: 'Recent decisions',
  agents: 'Agents, workspaces and remembered answers',
};

/** Most questions shown at once; more are counted. */
const MOST_QUESTIONS = 50;
const SHOWN = 200;
/** Questions whose text is known beside a decision about them. */
const LOOKED_UP = 100;

/** Written for the forms of one session. */
export type Rendered = (csrf: string) => Html;

/** What there is to be seen, looked at once for everybody who sees it. */
export async function lookAt(section: Section, parts: PageParts): Promise<Rendered> {
  switch (section) {
    case 'questions': {
      const pending = await parts.approvals.list({ state: 'pending', limit: MOST_QUESTIONS + 1 });
      if (pending.length === 0) return () => html`<p class="empty">Nothing waits for you.</p>`;
      const more =
        pending.length > MOST_QUESTIONS ? html`<p class="empty">More questions wait; these are the first ${MOST_QUESTIONS}.</p>` : '';
      const shown = pending.slice(0, MOST_QUESTIONS).reverse();
      return (csrf) => html`${shown.map((record) => question(record, csrf))}${more}`;
    }
    case 'running': {
      const items = await parts.running();
      return (csrf) => running(items, csrf);
    }
    case 'servers': {
      // Questions are answered whatever is wrong with servers.
      const listed = await parts.servers.list().catch((thrown: unknown) => ({ servers: [], problem: toAppError(thrown).message }));
      return () => serverTable(listed);
    }
    case 'decisions': {
      const decided = await Promise.all([parts.decisions(), parts.approvals.list({ limit: LOOKED_UP })]);
      return () => decisions(...decided);
    }
    case 'agents': {
      const [{ tokens, workspaces }, grants] = await Promise.all([parts.agents(), parts.grants.list({ active: true })]);
      const now = parts.clock.now();
      return (csrf) => html`${tokenTable(tokens, now, csrf)}
<p class="quiet">Workspaces: ${workspaces.length === 0 ? 'none registered' : workspaces.map(({ name, path }, index) => html`${index > 0 ? ', ' : ''}${name} (<code>${visible(path)}</code>)`)}</p>
${grantTable(grants, csrf)}`;
    }
  }
}

function running(items: readonly RunningItem[], csrf: string): Html {
  if (items.length === 0) return html`<p class="empty">Nothing is running.</p>`;
  return html`<table><thead><tr><th scope="col">What</th><th scope="col">Agent</th><th scope="col">Since (UTC)</th><th scope="col">Stop</th></tr></thead><tbody>${items.map(
    (
      item,
    ) => html`<tr><td data-label="What">${item.kind === 'job' ? 'job' : item.tool} <code>${item.what}</code><br><span class="quiet">${visible(item.workspace)}</span></td>
<td data-label="Agent">${visible(item.agent)}${item.client === undefined ? '' : html` <span class="quiet">${item.client}</span>`}</td><td data-label="Since">${time(item.started_at)}</td>
<td>${act('stop', csrf, { kind: item.kind, id: item.id }, 'Stop', `Stop ${item.what}`)}</td></tr>`,
  )}</tbody></table>`;
}

function decisions(events: readonly RecordedEvent[], asked: readonly ApprovalRecord[]): Html {
  const cards = new Map(asked.map(({ id, card }) => [id, card.what]));
  if (events.length === 0) return html`<p class="empty">Nothing was decided yet.</p>`;
  return html`<table><thead><tr><th scope="col">When (UTC)</th><th scope="col">What</th><th scope="col">Agent</th><th scope="col">Decision</th></tr></thead><tbody>${events.map(
    (event) =>
      html`<tr><td data-label="When">${time(event.at)}</td><td data-label="What">${event.tool ?? event.type} <code>${whatOf(event, cards)}</code></td><td data-label="Agent">${visible(event.agent ?? '')}</td><td data-label="Decision">${outcome(event)}</td></tr>`,
  )}</tbody></table>`;
}

/** What a decision was about: arguments are in the row of an action, those of a question on its card. */
function whatOf({ data }: RecordedEvent, cards: ReadonlyMap<string, string>): string {
  const args = data['arguments'];
  const command: unknown = typeof args === 'object' && args !== null ? Reflect.get(args, 'command') : undefined;
  const asked = cards.get(String(data['approval']));
  const text = asked ?? (typeof command === 'string' ? command : args === undefined ? '' : JSON.stringify(args));
  return visible(text.length > SHOWN ? `${text.slice(0, SHOWN).toWellFormed()} ...` : text);
}

function outcome({ type, data }: RecordedEvent): string {
  const word = (name: string): string => (typeof data[name] === 'string' ? visible(String(data[name]).slice(0, SHOWN)) : '');
  switch (type) {
    case 'action.decided':
      return word('verdict');
    case 'action.refused':
      return `refused: ${word('code')}`;
    case 'approval.decided':
      return `${word('decision')} by ${decider(data['by'])}`;
    default:
      return [type.replace('.', ' ').replace('_', ' '), word('name'), word('server'), word('upstream'), word('route'), word('why')]
        .filter((each) => each !== '')
        .join(' ');
  }
}

function decider(by: unknown): string {
  const { who, channel } = (typeof by === 'object' && by !== null ? by : {}) as { who?: unknown; channel?: unknown };
  return visible(`${String(who)} (${String(channel)})`.slice(0, SHOWN));
}

function tokenTable(tokens: readonly AgentToken[], now: number, csrf: string): Html {
  const inForce = tokens.filter(({ revoked_at, expires_at }) => revoked_at === undefined && (expires_at === undefined || expires_at > now));
  if (inForce.length === 0)
    return html`<p class="empty">No agent has a token. <code>writ token create NAME --workspace WORKSPACE</code> makes one.</p>`;
  return html`<table><thead><tr><th scope="col">Token</th><th scope="col">Workspaces</th><th scope="col">Last used (UTC)</th><th scope="col">Until (UTC)</th><th scope="col">Revoke</th></tr></thead><tbody>${inForce.map(
    (
      token,
    ) => html`<tr><td data-label="Token">${token.name} <span class="quiet">${visible(token.toolset)}</span></td><td data-label="Workspaces">${token.workspaces.join(', ') || 'none'}</td>
<td data-label="Last used">${token.used_at === undefined ? 'never' : time(token.used_at)}</td><td data-label="Until">${token.expires_at === undefined ? 'until revoked' : time(token.expires_at)}</td>
<td>${act('tokens/revoke', csrf, { name: token.name }, 'Revoke', `Revoke the token ${token.name}`)}</td></tr>`,
  )}</tbody></table>`;
}

function grantTable(grants: readonly Grant[], csrf: string): Html {
  if (grants.length === 0) return html`<p class="quiet">No answer is remembered.</p>`;
  return html`<table><thead><tr><th scope="col">Remembered yes</th><th scope="col">Agent</th><th scope="col">Until (UTC)</th><th scope="col">Revoke</th></tr></thead><tbody>${grants.map(
    (
      grant,
    ) => html`<tr><td data-label="Remembered">${grantText(grant.scope)}<br><span class="quiet">${visible(grant.workspace)}</span></td><td data-label="Agent">${visible(grant.agent)}</td>
<td data-label="Until">${time(grant.expires_at)}</td><td>${act('grants/revoke', csrf, { id: grant.id }, 'Revoke', 'Revoke this remembered answer')}</td></tr>`,
  )}</tbody></table>`;
}

/** A form of one button. */
function act(action: string, csrf: string, fields: Readonly<Record<string, string>>, text: string, label: string): Html {
  return html`<form method="post" action="${action}"><input type="hidden" name="csrf" value="${csrf}">${Object.entries(fields).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )}<button aria-label="${label}">${text}</button></form>`;
}
