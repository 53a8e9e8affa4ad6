import { describeOpening } from '../policy/index.ts';
import type { ApprovalRecord } from './types.ts';

/** Slack takes 3,000 characters in a block. */
const BLOCK_CHARS = 2_900;

/**
 * What a receiver gets: our fields in `approval`, and beside them `text` and `blocks` as Slack wants them. The card's texts stand in
 * plain-text blocks, where no character of them means anything; in `text` the three that do are escaped.
 */
export function webhookBody(record: ApprovalRecord, page: string | undefined): Readonly<Record<string, unknown>> {
  const { id, state, card, owner, created_at, expires_at, decided_at, decided_by, note } = record;
  const asked = state === 'pending';
  const headline = asked ? `Writ: ${card.agent} asks for a yes` : `Writ: ${id} is ${state}`;
  const opens = card.opens.map(describeOpening);
  const answer = page === undefined ? `writ approvals approve ${id}` : `${page} or writ approvals approve ${id}`;
  const details = [
    `Effects: ${card.effects.join(', ')}`,
    ...card.reasons.map((reason) => `- ${reason}`),
    ...(opens.length > 0 ? [`A yes opens: ${opens.join('; ')}`] : []),
    ...(card.origins.length > 0 ? [`Untrusted text came from: ${card.origins.join(', ')}`] : []),
    asked ? `Answer: ${answer}` : `${state}${decided_by ? ` by ${decided_by.who} (${decided_by.channel})` : ''}${note ? `: ${note}` : ''}`,
  ];
  return {
    type: asked ? 'approval.requested' : 'approval.decided',
    text: escaped(`${headline}: ${card.tool}: ${first(card.what, 200)}`),
    blocks: [block(headline), block(`${card.tool} in ${card.cwd}\n${card.what}`), block(details.join('\n'))],
    approval: {
      id,
      state,
      organization: owner.organization,
      agent: card.agent,
      ...(card.client === undefined ? {} : { client: card.client }),
      tool: card.tool,
      what: card.what,
      cwd: card.cwd,
      workspace: card.workspace,
      effects: card.effects,
      reasons: card.reasons,
      opens: card.opens,
      origins: card.origins,
      created_at,
      expires_at,
      ...(decided_at === undefined ? {} : { decided_at }),
      ...(decided_by === undefined ? {} : { decided_by }),
      ...(note === undefined ? {} : { note }),
    },
  };
}

function block(text: string): Readonly<Record<string, unknown>> {
  return { type: 'section', text: { type: 'plain_text', emoji: false, text: first(text, BLOCK_CHARS) } };
}

function first(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars).toWellFormed()} [${text.length - chars} more characters]`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
