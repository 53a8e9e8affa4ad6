import { visible } from '../kernel/visible.ts';
import { describeOpening } from '../policy/index.ts';
import type { ApprovalRecord } from './types.ts';

/**
 * The one way in which a card becomes text: forms of hosts, terminals and the page show the same words. Headings are ours and are the only
 * lines that begin at the edge; whatever came from outside stands behind a bar, wrapped by us, so that no text on the card can pass for a
 * heading, not even by being longer than a line.
 */
export interface CardSection {
  readonly heading: string;
  /** At least one. Safe to print: nothing invisible is left in them. */
  readonly lines: readonly string[];
}

type Shown = Pick<ApprovalRecord, 'id' | 'card' | 'expires_at'>;

/** What a person reads before they answer, top to bottom; sections without content are left out. */
export function cardSections({ id, card, expires_at }: Shown, now: number): readonly CardSection[] {
  const opens = card.opens.map(describeOpening);
  const sections: readonly CardSection[] = [
    { heading: `${visible(card.tool)} is asked to do`, lines: card.what.split('\n') },
    { heading: 'In the folder', lines: [card.cwd] },
    { heading: 'Of the Workspace', lines: card.workspace === card.cwd ? [] : [card.workspace] },
    { heading: 'Asked by', lines: [card.client === undefined ? card.agent : `${card.agent}, which calls itself ${card.client}`] },
    { heading: 'In its own words, which nobody checked', lines: card.description === undefined ? [] : [card.description] },
    { heading: 'What it could do', lines: [card.effects.join(', ')] },
    { heading: 'Why you are asked', lines: card.reasons },
    { heading: 'A yes opens, for this one run', lines: opens.length > 0 ? opens : ['nothing more than every run may do'] },
    { heading: 'Untrusted text reached the agent before, from', lines: card.origins },
    { heading: 'To say yes, type this word', lines: card.word === undefined ? [] : [card.word] },
    { heading: 'Ends unanswered', lines: [ends(expires_at, now)] },
    { heading: 'Question', lines: [id] },
  ];
  return sections.filter(({ lines }) => lines.length > 0).map(({ heading, lines }) => ({ heading, lines: lines.map(visible) }));
}

const WIDTH = 76;

/** The card as plain text, for terminals and for forms of hosts. */
export function cardText(record: Shown, now: number): string {
  return cardSections(record, now)
    .map(({ heading, lines }) => `${heading}:\n${lines.map(quote).join('\n')}`)
    .join('\n');
}

/** Behind a bar, a dotted one where a line of the text goes on: who copies it must be able to tell where it really ends. */
function quote(line: string): string {
  const [first = '', ...rest] = wrap(line);
  return [`  │ ${first}`, ...rest.map((each) => `  ┊ ${each}`)].join('\n');
}

/** Cut at `WIDTH` columns and never inside a character. Wide scripts take two columns. */
function wrap(line: string): readonly string[] {
  const pieces: string[] = [];
  let piece = '';
  let columns = 0;
  for (const char of line) {
    const width = (char.codePointAt(0) ?? 0) >= 0x1100 ? 2 : 1;
    if (columns + width > WIDTH) {
      pieces.push(piece);
      piece = '';
      columns = 0;
    }
    piece += char;
    columns += width;
  }
  return [...pieces, piece];
}

function ends(expires_at: number, now: number): string {
  const minutes = Math.max(0, Math.round((expires_at - now) / 60_000));
  return `${minutes === 0 ? 'in less than a minute' : `in ${minutes} min`}, at ${new Date(expires_at).toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}
