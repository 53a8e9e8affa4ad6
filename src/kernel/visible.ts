/** Everything that shows as nothing, as a space that is none, or that drives a terminal or the direction of text. */
const INVISIBLE =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u00A0\u1680\u2000-\u200A\u202F\u205F\u2800\u3000]/gu;

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Foreign text on one line, as a person must see it before saying yes or believing it: nothing hidden, nothing that acts. */
export function visible(text: string): string {
  return text.replace(INVISIBLE, (char) => NAMED[char] ?? `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`);
}
