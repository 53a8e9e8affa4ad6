import { visible } from '../../kernel/visible.ts';
import { withoutHidden } from './hidden.ts';

export interface TextChange {
  /** `description`, `title`, `annotations.title`. */
  readonly field: string;
  /** Where it differs, on one line, safe to print; at most 200 characters each. */
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

/** Both texts from a little before the first difference on. */
export function differing(before: string, after: string): { readonly before: string; readonly after: string } {
  let at = 0;
  while (at < before.length && at < after.length && before[at] === after[at]) at++;
  const from = Math.max(0, at - AROUND);
  const show = (text: string): string => {
    const piece = visible(text.slice(from, from + SHOWN_CHARS));
    const cut = piece.length > SHOWN_CHARS || from + SHOWN_CHARS < text.length;
    return `${from > 0 ? '…' : ''}${piece.slice(0, SHOWN_CHARS)}${cut ? '…' : ''}`;
  };
  return { before: show(before), after: show(after) };
}
