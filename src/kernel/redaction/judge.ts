import type { SecretClass } from './names.ts';

/**
 * Is this value, which stands under a secret's name, a secret? The other answers: a placeholder, a keyword or type, code, prose.
 * Values longer than MAX_JUDGED are not judged: nothing honest of that length stands there.
 */
export const MAX_JUDGED = 256;

/**
 * `quoted`: in quotes, or the whole value of a data field. `bare`: NAME=value of a shell or .env, an option, a query.
 * `loose`: everything else, where code and prose look the same as a configuration file.
 */
export type Form = 'quoted' | 'bare' | 'loose';

const PLACEHOLDER =
  /^(?:\$[{(A-Za-z_0-9@*#?!]|\{\{|<[^>]*>?|%[A-Za-z_]+%|#\{|\*{2,}|[xX]{3,}$|\.{3}|…|-+$|_+$|your[-_ ]?|my[-_](?:secret|token|password|api)|process\.env|import\.meta|os\.(?:environ|getenv)|getenv|env[.([]|ENV[.[]|System\.getenv|secrets?\.|vault:|op:\/\/|ssm:|arn:|change[-_]?me|replace[-_]?me|insert[-_]|todo|example$)/i;

const KEYWORDS = new Set(
  'null none nil undefined true false yes no on off string str text number int integer boolean bool bytes object any unknown never void required optional hidden masked secret password passwd token default empty unset set missing invalid expired present absent disabled enabled basic bearer example value varchar char uuid buffer readonly prompt ask stdin file env'.split(
    ' ',
  ),
);

const PROSE =
  /\b(?:your|the|is|are|for|to|must|enter|please|with|of|or|and|not|no|invalid|forgot|confirm|required|here|has|have|was|be|at|in|on)\b/i;
const PATHLIKE = /^(?:~|\.{1,2})?\/[\w.@-]+(?:\/[\w.@-]+)*\/?$/;
const VERSION = /^[\^~]?\d{1,4}(?:\.\d{1,6}){1,3}(?:[-+][\w.]{1,20})?$/;
const NUMBER = /^0x[0-9a-f]{1,8}$/i;
const IDENTIFIER = /^[A-Za-z_$][\w$]*$/;
const CODE =
  /^(?:[A-Za-z_$][\w$]*(?:(?:\.|\?\.|::|->)[A-Za-z_$][\w$]*)+[?.]*$|[A-Za-z_$][\w$.:>?-]*[([{<]|[[({!&*+?|/=]|-[A-Za-z(\d]{0,2}$)|\|\||&&|=>|==[^=;]/;

export function isPlaceholder(value: string): boolean {
  return value.includes('[redacted:') || PLACEHOLDER.test(value) || /^([*xX.#_?•-])\1*$/.test(value);
}

export function isSecretValue(value: string, kind: SecretClass, form: Form, name: string): boolean {
  if (value.trim() === '' || isPlaceholder(value) || KEYWORDS.has(value.toLowerCase()) || says(value, name)) return false;
  if (/\s/.test(value)) return (kind === 'password' || value.length >= 20) && !PROSE.test(value);
  if (PATHLIKE.test(value) && !(kind === 'token' && value.length > 30 && !value.includes('.') && /\d/.test(value) && /[A-Z]/.test(value)))
    return false;
  if (/^[a-z][a-z0-9+.-]{1,20}:\/\//i.test(value)) return false; // an address is looked at by itself
  if (VERSION.test(value) || NUMBER.test(value)) return false;
  const digits = /\d/.test(value);
  if (form === 'loose') return isLooseSecret(value, kind, digits);
  if (kind === 'password') return value.length >= 3;
  if (/^\d+$/.test(value)) return value.length >= 12;
  if (form === 'bare') return value.length >= 6;
  // Names of things: "access_token", "auth.errors.token", "refresh-token"
  if (/^[a-z]+(?:[_-][a-z]+){1,4}$/.test(value) && value.length < 32) return false;
  if (/^[a-z][A-Za-z]*(?:\.[a-z][A-Za-z]*)+$/.test(value)) return false;
  return value.length >= 8 && /^[\w+/$]/.test(value) && (digits || value.length >= 16 || /[^A-Za-z]/.test(value));
}

function isLooseSecret(value: string, kind: SecretClass, digits: boolean): boolean {
  if (CODE.test(value)) return false;
  const least = kind === 'password' ? 6 : 8;
  if (IDENTIFIER.test(value)) {
    if (value.includes('_') && (value === value.toUpperCase() || (value.match(/\d/g)?.length ?? 0) < 4))
      return value.length >= 32 && digits;
    if (digits) return value.length >= least;
    return value.length >= 20 && (value === value.toLowerCase() || value === value.toUpperCase());
  }
  if (/^\d+$/.test(value)) return kind === 'password' && value.length >= 6;
  if (/^\d+(?:\.\d+)*[a-z%]{0,2}$/.test(value)) return false;
  if (kind === 'password') return value.length >= 6 && (digits || value.length >= 10);
  return (value.length >= 8 && digits) || value.length >= 24;
}

/** The value repeats the name: a label ("Api token"), a variable of the same name (`password: password2`). */
function says(value: string, name: string): boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z]/g, '');
  const [short, long] = [plain(value), plain(name)];
  return short !== '' && (short === long || (value.length <= name.length + 2 && long.endsWith(short)));
}
