import type { Redactor } from '../kernel/redaction/index.ts';
import { visible } from '../kernel/visible.ts';
import type { Decision, Opening } from '../policy/types.ts';
import type { Card, GrantScope } from './types.ts';

/** Bytes of `what`. A person reads a card whole or not at all; what is cut is counted where it is missing. */
export const CARD_BYTES = 16 * 1024;

/** Short texts beside it: a folder, a sentence. */
const SHORT = 1_000;
const MOST_REASONS = 20;
const MOST_ORIGINS = 20;
const MOST_OPENINGS = 50;

/** What a card is made of: its texts exact and raw, masked, escaped and bounded only here. Effects, reasons and openings are those of the decision. */
export interface CardParts extends Omit<Card, 'effects' | 'reasons' | 'opens' | 'word'> {
  readonly decision: Decision;
}

/** What a person is shown before they answer. Masked before it is escaped: an escape in the middle would hide a secret from the redactor. */
export function buildCard(parts: CardParts, redactor: Redactor): Card {
  const { decision, client, description } = parts;
  const short = (text: string): string => bounded(visible(redactor.text(text)), SHORT);
  const reasons = decision.findings
    .filter(({ effect, opens }) => effect !== 'safe' || opens)
    .map(({ effect, reason }) => `${reason} [${effect}]`);
  const rule = decision.rule?.list === 'prompt' ? [`a rule asks for it${decision.rule.reason ? `: ${decision.rule.reason}` : ''}`] : [];
  return {
    tool: short(parts.tool),
    what: whatOf(redactor.text(parts.what)),
    cwd: short(parts.cwd),
    workspace: short(parts.workspace),
    agent: short(parts.agent),
    ...(client === undefined ? {} : { client: short(client) }),
    ...(description === undefined ? {} : { description: short(description) }),
    effects: decision.effects,
    reasons: listed([...new Set([...rule, ...reasons])].map(short), MOST_REASONS),
    opens: decision.opens.map((opening) => shownOpening(opening, redactor)),
    origins: listed(parts.origins.map(short), MOST_ORIGINS),
    grants: parts.grants.map((grant) => shownGrant(grant, redactor)),
  };
}

/** Whether a card can show all of what a yes would open. What can't be shown can't be agreed to. */
export function fitsOnCard({ opens }: Decision): boolean {
  const names = opens.flatMap((opening) => (opening.type === 'hosts' ? [...opening.hosts, ...opening.presets] : [opening.type]));
  return names.length <= MOST_OPENINGS;
}

/** One line per line of the text. Too much: the beginning and the end are kept, and what is missing between them is counted. */
function whatOf(text: string): string {
  const shown = text.split('\n').map(visible).join('\n');
  if (Buffer.byteLength(shown) <= CARD_BYTES) return shown;
  const head = cut(shown, (CARD_BYTES / 4) * 3, 'start');
  const tail = cut(shown, CARD_BYTES / 4 - 100, 'end');
  const missing = shown.length - head.length - tail.length;
  return `${head}\n[... ${missing} characters are not shown here ...]\n${tail}`;
}

/** The beginning or end of a text in so many bytes, never half a character. */
function cut(text: string, bytes: number, side: 'start' | 'end'): string {
  const all = Buffer.from(text);
  const kept = side === 'start' ? all.subarray(0, bytes) : all.subarray(all.length - bytes);
  const decoded = kept.toString('utf8');
  return side === 'start' ? decoded.replace(/\uFFFD+$/, '') : decoded.replace(/^\uFFFD+/, '');
}

function bounded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most).toWellFormed()}[... ${text.length - most} more characters]`;
}

function listed(texts: readonly string[], most: number): readonly string[] {
  return texts.length <= most ? texts : [...texts.slice(0, most), `and ${texts.length - most} more`];
}

function shownOpening(opening: Opening, redactor: Redactor): Opening {
  return opening.type === 'path' ? { ...opening, path: redactor.text(opening.path) } : opening;
}

function shownGrant(grant: GrantScope, redactor: Redactor): GrantScope {
  return grant.type === 'command' ? { ...grant, text: bounded(visible(redactor.text(grant.text)), SHORT) } : grant;
}
