import { visible } from '../../kernel/visible.ts';
import { withoutHidden } from './hidden.ts';

export interface TextChange {
  /** `description`, `title`, `annotations.title`. */
  readonly field: string;
  /** Where it differs, on one line, safe to print; at most 200 of its characters each. */
  readonly before: string;
  readonly after: string;
}

const SHOWN_CHARS = 200;
const AROUND = 40;

/** The text without what hides in it, and the change as a person should see it; no `change`: there was nothing. */
export function cleanText(field: string, text: string): { readonly text: string; readonly change?: TextChange } {
  const clean = withoutHidden(text);
  return clean === text ? { text } : { text: clean, change: { field, ...differing(text, clean) } };
}

/** Both texts from a little before the first difference on, at most `most` characters each; what is cut off is counted. */
export function differing(before: string, after: string, most: number = SHOWN_CHARS): { readonly before: string; readonly after: string } {
  let at = 0;
  while (at < before.length && at < after.length && before[at] === after[at]) at++;
  const from = Math.max(0, at - AROUND);
  const show = (text: string): string => {
    const left = text.length - from - most;
    return `${from > 0 ? '…' : ''}${visible(text.slice(from, from + most))}${left > 0 ? `… (and ${left} more characters)` : ''}`;
  };
  return { before: show(before), after: show(after) };
}
