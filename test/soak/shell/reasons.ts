import { parse } from 'unbash';
import type { Assessment } from '../../../src/policy/index.ts';
import type { SeenByBash } from './real-bash.ts';

/** Why two readings of a text may differ and both be right for what they are made for. The first that fits explains it. */
interface Reason {
  readonly why: string;
  fits(text: string, bash: SeenByBash, ours: Assessment): boolean;
}

const MISREAD =
  /in backticks a line|of an unknown kind|cut (from its name )?by a line continuation|means itself inside|a word of its own to bash|goes on behind|did not look into/;

/** We read it, bash refuses it: nothing of it runs but what stands on earlier lines, which we have seen. */
export const BASH_REFUSES: readonly Reason[] = [
  { why: 'an extended glob, which bash knows only after shopt -s extglob', fits: (text) => /[?*+@!]\(/.test(text) },
  { why: 'a function substitution (braces behind a dollar), which bash knows from 5.3 on', fits: (text) => /\$\{[\s|]/.test(text) },
  {
    why: 'a quote left open in the delimiter of a here-document',
    fits: (text, bash) => text.includes('<<') && /looking for matching/.test(bash.complaint),
  },
  { why: 'something inside [[ ]] that is an operator to bash, or no word', fits: (_text, bash) => /conditional/.test(bash.complaint) },
  { why: 'a redirection behind a redirection', fits: (text) => /[<>]&?-?\s*(?:\d*|\{\w+\})[<>]/.test(text) },
  { why: 'an empty command', fits: (text, bash) => /[;&\n]\s*;/.test(text) && /near unexpected token `;/.test(bash.complaint) },
  {
    why: 'arithmetic of the old kind without an end',
    fits: (text, bash) => text.includes('$[') && /looking for matching/.test(bash.complaint),
  },
  {
    why: 'a process substitution without an end inside a parameter expansion',
    fits: (text, bash) => /\$\{[^}]*[<>]\(/.test(text) && /looking for matching/.test(bash.complaint),
  },
  { why: 'a ! before nothing', fits: (text, bash) => /!\s*[})]/.test(text) && /near unexpected/.test(bash.complaint) },
  { why: 'time of nothing', fits: (text, bash) => /\btime(?:\s+-p)?\s+[;&|]/.test(text) && /near unexpected/.test(bash.complaint) },
  {
    why: 'coproc before something that is no command',
    fits: (text, bash) => /\bcoproc\b/.test(text) && /near unexpected/.test(bash.complaint),
  },
  {
    why: 'a parenthesis behind a word, where our parser reads on',
    fits: (text, bash) => /\(/.test(text) && /syntax error near/.test(bash.complaint),
  },
];

/** Bash reads it, we refuse it: asks too much, lets nothing through. */
export const WE_REFUSE: readonly Reason[] = [
  { why: 'more than a budget', fits: (_text, _bash, ours) => /too (large|many|deep)|nested/.test(ours.unparseable?.reason ?? '') },
  { why: 'a text inside is wrong (sh -c, eval, [ -v ]): bash finds out when it gets there', fits: (text) => parses(text) },
  { why: 'wrong inside backticks, which bash reads when it gets there', fits: (text) => text.includes('`') },
  { why: 'wrong inside arithmetic, which bash reads when it gets there', fits: (text) => /\(\(|\$\[/.test(text) },
  { why: 'wrong inside a parameter expansion, which bash reads when it gets there', fits: (text) => text.includes('${') },
  {
    why: 'a spelling that the parser reads otherwise, refused on purpose',
    fits: (_text, _bash, ours) => MISREAD.test(ours.unparseable?.reason ?? ''),
  },
  { why: 'the words case and in as arguments inside a substitution', fits: (text) => /[$<>]\(.*\bcase\b.*\bin\b/s.test(text) },
  { why: 'a word inside [[ ]] that is no operator', fits: (text) => text.includes('[[') },
  { why: 'a parenthesis in the subscript of an assignment', fits: (text) => /\w\[[^\]]*\)[^\]]*\]\+?=/.test(text) },
  { why: 'a reserved word that goes on in a substitution', fits: (text) => /(?:\b(?:done|fi|esac|then|do|else|elif)|\})[<>]\(/.test(text) },
  { why: 'an operator with a line continuation in it', fits: (text) => /[<>&|;!$]\\\n/.test(text) },
  { why: 'a here-document that the end of its substitution ends', fits: (text) => /\$\([\s\S]*<</.test(text) },
];

/** tree-sitter sees a command where we see none. */
export const SITTER_SEES: readonly Reason[] = [
  { why: 'it ends words at a line continuation', fits: (text) => text.includes('\\\n') },
  { why: 'it ends a here-document at a line that only begins like the delimiter', fits: endsEarly },
  { why: 'it reads in a here-document whose delimiter is quoted', fits: (text) => /<<-?\s*['"\\]/.test(text) },
  { why: 'it takes any word with = in it for an assignment', fits: (text) => /(?:^|[\s;|&(])(?:\d\w*|[^\s=]*[^\s\w=][^\s=]*)=/.test(text) },
  { why: 'it ends a word at a backslash behind a quote', fits: (text) => /['"]\\\S/.test(text) },
  { why: 'it does not know {name}> behind another redirection', fits: (text) => /\{\w+\}[<>]/.test(text) },
  { why: 'it ends a word at backticks in it', fits: (text) => /[\w./-]`/.test(text) },
  { why: 'it drops an escaped blank', fits: (text) => /\\[ \t]/.test(text) },
  { why: 'it ends the word behind >& at the digits it begins with', fits: (text) => /[<>]&\d+[^\s\d;&|<>()-]/.test(text) },
  { why: 'it takes a word behind ! in [[ ]] for a command', fits: (text) => /\[\[[^\]$`(]*![^\]$`(]*\]\]/.test(text) },
  { why: 'it reads substitutions in the delimiter of a here-document', fits: (text) => /<<-?\s*[^\s;&|<>]*\$\(/.test(text) },
  { why: 'it reads commands in the subscript of an assignment', fits: (text) => /\w\[[^\]$`]*\([^\]$`]*\]\+?=/.test(text) },
  { why: 'it reads on behind a dollar before a blank', fits: (text) => /\$[ \t]/.test(text) },
  { why: 'it takes a group behind ! for a command', fits: (text) => /!\s*\{/.test(text) },
  { why: 'it takes arithmetic for subshells', fits: (text) => /\(\(.*\)\)/s.test(text) },
  {
    why: 'it skips white space that is a letter to bash',
    fits: (text) => /[\r\f\v\u0085\u00a0\u1680\u2000-\u200b\u2028\u2029\u202f\u205f\u3000\ufeff]/.test(text),
  },
];

/** What we read in the text that bash prints isn't what we read in the original. */
export const PRINTED_OTHERWISE: readonly Reason[] = [
  { why: 'coproc: bash prints a name that a simple command cannot have', fits: (text) => /\bcoproc\b/.test(text.replaceAll('\\\n', '')) },
  {
    why: 'a name like a reserved word behind a redirection, which bash prints in front',
    fits: (text) => /(?:^|[;&|(\n])\s*\d*[<>]/.test(text),
  },
  { why: 'a ! before nothing, which bash prints as nothing', fits: (text) => /!\s*(?:[;&)\n]|$)/.test(text) },
  { why: 'a backslash at the very end, which eval keeps and a file does not', fits: (text) => text.endsWith('\\') },
  { why: 'a line continuation inside a parameter expansion: we take it for unknown', fits: (text) => /\$\{[^}]*\\\n/.test(text) },
  { why: 'a name in quotes, which is a bad substitution when bash gets there', fits: (text) => /\$\{\$'/.test(text) },
  { why: 'a line continuation inside braces: we read them as they stand', fits: (text) => /\{[^}]*\\\n/.test(text) },
  { why: 'a line continuation inside {name}>', fits: (text) => /\{\w*\\\n\w*\}[<>]/.test(text) },
];

export function explain(reasons: readonly Reason[], text: string, bash: SeenByBash, ours: Assessment): string | undefined {
  return reasons.find(({ fits }) => fits(text, bash, ours))?.why;
}

function parses(text: string): boolean {
  return (parse(text).errors ?? []).length === 0;
}

function endsEarly(text: string): boolean {
  return [...text.matchAll(/<<-?\s*(['"\\]?)(\w+)/g)].some(([, , word]) => new RegExp(`^\\t*${word}[^\\n]`, 'm').test(text));
}
