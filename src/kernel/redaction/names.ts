/**
 * Two questions about names. `isSecretName` is for environments: anything that sounds like a secret is kept back, over-matching
 * accepted (TOKENIZER_PATH). `secretClass` is for text a model reads: `max_tokens` or `next_token` must stay readable.
 */

const SECRET_WORDS = [
  'APIKEY',
  'TOKEN',
  'SECRET',
  'PASSWORD',
  'CREDENTIAL',
  'CREDS',
  'PRIVATEKEY',
  'ACCESSKEY',
  'PASSWD',
  'PASSPHRASE',
  'COOKIE',
  'AUTHORIZATION',
];

/** Compared in upper case without `-` and `_`, anywhere in the name. */
export function isSecretName(name: string): boolean {
  const plain = name.toUpperCase().replace(/[-_]/g, '');
  return SECRET_WORDS.some((word) => plain.includes(word));
}

/** The values in an environment that must not appear in any output. Short ones are left out: they would hit ordinary text. */
export function secretValues(env: Readonly<Record<string, string>>): string[] {
  return Object.entries(env).flatMap(([name, value]) => (isSecretName(name) && value.length >= 8 ? [value] : []));
}

/** `password`: made by people, may be short. `token`: made by machines, so short or wordlike values are something else. */
export type SecretClass = 'password' | 'token';

const CLASSES: readonly { readonly name: RegExp; readonly class: SecretClass }[] = [
  { name: /(?:password|passwd|passphrase|passwort|[_-]pass|[_-]pwd|[a-z]pwd)$/, class: 'password' },
  { name: /(?:token|secret|secret_key_base|jwt_key)$/, class: 'token' },
  {
    name: /(?:^|_)?(?:api|app|access|secret|private|encryption|signing|account|master|auth|license|service|subscription|webhook|shared_access|admin)_?key(?:_data|_base64|_b64|_pem)?$/,
    class: 'token',
  },
  { name: /(?:credential|credentials|creds|client_key_data)$/, class: 'token' },
  { name: /(?:^|_)(?:cookie|authorization|auth_?token|bearer)$/, class: 'token' },
];

/** Places in a list, counters and public halves: not secret although they end like one. */
const HONEST =
  /(?:^|_)(?:next|page|nextpage|next_page|continuation|progress|cancel|cancellation|sync|start|end|max|min|num|total|public|old_?pwd|eos|bos|pad|unk|sep|cls|mask)_?(?:token|key|pwd)$|^(?:old)?pwd$/;

/** What a value under this name is, judged by the end of the name: `DB_PASSWORD_PROD`, `clientSecret`, `X-Api-Key`. */
export function secretClass(name: string): SecretClass | undefined {
  const plain = name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replace(/[.\s-]+/g, '_')
    .replace(/^_+|_+$/g, '')
    .replace(/_(?:\d{1,3}|prod|production|dev|test|staging|live|old|new|default|value)$/, '');
  if (HONEST.test(plain)) return undefined;
  return CLASSES.find((one) => one.name.test(plain))?.class;
}
