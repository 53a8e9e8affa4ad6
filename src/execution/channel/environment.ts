import { isSecretName } from '../../kernel/redaction/index.ts';

/** What a program that stays gets of Writ's own environment. Fewer names than a command has: each is given to foreign code for days. */
const INHERITED: ReadonlySet<string> = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'TZ',
  'TMPDIR',
  'LANG',
  ...['ALL', 'CTYPE', 'MESSAGES', 'NUMERIC', 'TIME', 'COLLATE', 'MONETARY', 'PAPER', 'NAME', 'ADDRESS', 'TELEPHONE', 'MEASUREMENT'].map(
    (category) => `LC_${category}`,
  ),
  'LC_IDENTIFICATION',
]);

export interface ChannelEnvironment {
  readonly env: Readonly<Record<string, string>>;
  /** Names that were configured and kept back, since they sound like a secret and nobody declared them. */
  readonly stripped: readonly string[];
}

/**
 * The variables of a program that stays: the allow-list of Writ's own, then what was configured for it, where an empty text removes.
 * Secret-looking names pass only when `env_secrets` declares them; the match is broad on purpose (TOKENIZER_PATH is one).
 */
export function channelEnvironment(input: {
  readonly parent: Readonly<Record<string, string | undefined>>;
  readonly overrides: Readonly<Record<string, string>>;
  readonly env_secrets?: readonly string[];
}): ChannelEnvironment {
  const env = new Map<string, string>();
  for (const [name, value] of Object.entries(input.parent)) if (INHERITED.has(name) && value) env.set(name, value);
  const declared = new Set(input.env_secrets ?? []);
  const stripped: string[] = [];
  for (const [name, value] of Object.entries(input.overrides)) {
    if (value === '') env.delete(name);
    else if (isSecretName(name) && !declared.has(name)) stripped.push(name);
    else env.set(name, value);
  }
  return { env: Object.fromEntries(env), stripped };
}
