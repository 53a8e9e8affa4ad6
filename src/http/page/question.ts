import { html } from 'hono/html';
import { type ApprovalRecord, GRANT_TTL_MS, type GrantScope } from '../../approvals/index.ts';
import { visible } from '../../kernel/visible.ts';
import type { Opening } from '../../policy/types.ts';
import type { Html } from './layout.ts';

/** How long a Grant may live: what the form offers. */
export const GRANT_HOURS: readonly number[] = [1, 8, 24, 24 * 7, 24 * 30];
const GRANT_HOURS_DEFAULT = GRANT_TTL_MS / 3_600_000;

/**
 * One question with everything a person needs to decide, and the form that answers it. "No" comes first, so that Enter in a text field
 * never says yes.
 */
export function question(record: ApprovalRecord, csrf: string): Html {
  const { card } = record;
  const asks = card.client === undefined ? card.agent : `${card.agent} through ${card.client}`;
  return html`<article class="card" id="${record.id}" tabindex="-1" data-expires="${record.expires_at}" data-version="${card.word ?? ''}" aria-labelledby="t-${record.id}">
<h3 id="t-${record.id}">${card.tool}: ${asks} asks</h3>
<pre tabindex="0" aria-label="what exactly">${card.what}</pre>
<dl>
<dt>in</dt><dd><code>${card.cwd}</code>${card.workspace === card.cwd ? '' : html` of <code>${card.workspace}</code>`}</dd>
<dt>would</dt><dd>${card.effects.map((effect) => html`<span class="effect">${effect}</span>`)}</dd>
<dt>because</dt><dd>${list(card.reasons)}</dd>
${card.description === undefined ? '' : html`<dt>it says</dt><dd class="quiet">“${card.description}” (its own words, not checked)</dd>`}
<dt>open for</dt><dd class="left"></dd>
</dl>
${
  card.origins.length === 0
    ? ''
    : html`<div class="warn" role="note">Text from outside has reached the model in this run; it may be behind this request: ${list(card.origins)}</div>`
}
<form method="post" action="approvals/${record.id}" autocomplete="off">
<input type="hidden" name="csrf" value="${csrf}">
${opens(record)}
${
  card.word === undefined
    ? ''
    : html`<label>Grave and repeated: to approve, type <strong>${card.word}</strong> <input type="text" name="word" autocapitalize="off" spellcheck="false"></label>`
}
<label>A note to the agent (optional) <input type="text" name="note" maxlength="500"></label>
<div class="row"><button class="stop" name="decision" value="deny" formnovalidate>Deny</button><button class="go" name="decision" value="approve">Approve this once</button></div>
${remember(record)}
</form>
</article>`;
}

function list(items: readonly string[]): Html {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

/** All that runs without containment is one thing to agree to, however many reasons it has. */
export const UNCONTAINED = 'uncontained';

/** What a yes opens, each part to be left out; the names of the fields carry its place in `card.opens`. */
function opens({ card }: ApprovalRecord): Html | '' {
  if (card.opens.length === 0) return '';
  const reasons = card.opens.flatMap((opening) => (opening.type === 'uncontained' ? visible(opening.why) : []));
  const bare =
    reasons.length === 0
      ? ''
      : html`<label class="warn"><input type="checkbox" name="${UNCONTAINED}" value="keep" required>Without containment, with all the rights of your account: ${reasons.join('; ')}</label>`;
  return html`<fieldset><legend>A yes opens, for this one run</legend>${card.opens.map((opening, index) => field(opening, `open.${index}`))}${bare}</fieldset>`;
}

function field(opening: Opening, name: string): Html | '' {
  switch (opening.type) {
    case 'path':
      return html`<label><input type="checkbox" name="${name}" value="keep" checked>${opening.access === 'write' ? 'reading and writing' : 'reading'} <code>${visible(opening.path)}</code></label>`;
    case 'uncontained':
      return '';
    case 'hosts':
      return html`<label>the network to these hosts, separated by spaces <input type="text" name="${name}" value="${opening.hosts.map(visible).join(' ')}" spellcheck="false" autocapitalize="off"></label>${opening.presets.map(
        (preset) =>
          html`<label class="inline"><input type="checkbox" name="${name}.preset" value="${preset}" checked>hosts of ${preset}</label>`,
      )}`;
  }
}

function remember({ card }: ApprovalRecord): Html | '' {
  if (card.grants.length === 0) return '';
  return html`<details><summary>Approve and remember ...</summary>
<fieldset><legend>Do not ask again, in this workspace, for this agent</legend>
${card.grants.map((scope, index) => html`<label><input type="radio" name="grant" value="${index}"${index === 0 ? html` checked` : ''}>${grantText(scope)}</label>`)}
<label>for <select name="hours">${GRANT_HOURS.map((hours) => html`<option value="${hours}"${hours === GRANT_HOURS_DEFAULT ? html` selected` : ''}>${hoursText(hours)}</option>`)}</select></label>
<button name="decision" value="remember">Approve and remember</button></fieldset></details>`;
}

export function grantText(scope: GrantScope): Html {
  switch (scope.type) {
    case 'command':
      return html`exactly this command: <code>${visible(scope.text)}</code>`;
    case 'program':
      return html`every command that begins with <code>${scope.argv.map(visible).join(' ')}</code>`;
    case 'host':
      return html`the network to <code>${visible(scope.host)}</code>`;
    case 'path':
      return html`${scope.access === 'write' ? 'reading and writing' : 'reading'} <code>${visible(scope.path)}</code>`;
  }
}

function hoursText(hours: number): string {
  if (hours === 1) return '1 hour';
  return hours < 48 ? `${hours} hours` : `${hours / 24} days`;
}
