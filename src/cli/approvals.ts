import { type ApprovalRecord, cardText, describeGrant, type Grant } from '../approvals/index.ts';
import { visible } from '../kernel/visible.ts';

const WIDTH = 60;

/** One line per question. */
export function renderApprovals(records: readonly ApprovalRecord[], now: number): string {
  if (records.length === 0) return 'No questions.';
  return records
    .map(({ id, state, card, created_at }) => {
      const [first = '', ...rest] = card.what.split('\n');
      const what = rest.length > 0 ? `${first} (+${rest.length} lines)` : first;
      return [id, state.padEnd(9), ago(now - created_at).padStart(4), cut(`${card.tool}: ${what}`), card.effects.join(', ')].join('  ');
    })
    .join('\n');
}

/** A question in full, as it is shown before it is answered. */
export function renderCard(record: ApprovalRecord, now: number): string {
  return cardText(record, now);
}

/** The card, then what became of it. */
export function renderApproval(record: ApprovalRecord, now: number): string {
  const { state, decided_by, note, opens } = record;
  const by = decided_by ? ` (${decided_by.channel}, ${visible(decided_by.who)})` : '';
  const lines = [cardText(record, now), `State: ${state}${by}`];
  if (note !== undefined) lines.push(`Note: ${visible(note)}`);
  if (opens !== undefined && JSON.stringify(opens) !== JSON.stringify(record.card.opens))
    lines.push(`Opened: ${visible(JSON.stringify(opens))}`);
  return lines.join('\n');
}

export function renderGrants(grants: readonly Grant[], now: number): string {
  if (grants.length === 0) return 'No Grants.';
  return grants
    .map(({ id, scope, agent, workspace, expires_at, revoked_at }) => {
      const life = revoked_at === undefined ? `ends in ${ago(Math.max(0, expires_at - now))}` : 'over';
      return [id, life.padEnd(12), describeGrant(scope), `(${visible(agent)} in ${visible(workspace)})`].join('  ');
    })
    .join('\n');
}

function ago(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return `${Math.floor(ms / 1_000)}s`;
  if (minutes < 120) return `${minutes}m`;
  return minutes < 48 * 60 ? `${Math.floor(minutes / 60)}h` : `${Math.floor(minutes / 1_440)}d`;
}

function cut(text: string): string {
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text.padEnd(WIDTH);
}
