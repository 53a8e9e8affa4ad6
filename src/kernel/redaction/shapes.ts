/**
 * Secrets that can be told by their looks. `keep` is matched and stays, `head` + `run` (at least `min` characters of it) go.
 * Everything before `run` is bounded, and `run` is followed by nothing: a failed try costs a constant, a long match is jumped over.
 */
export interface Shape {
  readonly kind: string;
  /** At least three characters each, the first of `keep`/`head`; compared without case. */
  readonly triggers: readonly string[];
  /** `word`: only where no word character stands before; `dash`: nor a dash. */
  readonly edge?: 'word' | 'dash';
  readonly keep?: string;
  readonly head: string;
  /** One character class. */
  readonly run: string;
  readonly min: number;
  readonly any_case?: true;
  /** Characters that decide (default 256). */
  readonly reach?: number;
}

const W = '[A-Za-z0-9]';
const B = '[A-Za-z0-9_-]';
const HEX = '[0-9a-f]';
/** A value that stands for another: templates, variables, our own markers. */
const REAL = '(?![$<{%*]|\\[redacted:|\\.\\.\\.|x{4}|your[-_])';
const BLANKS = '[ \\t]{0,8}';
const QUOTE = '(?:\\\\{0,3}["\'`])?';
/** At least one digit among the next characters: tells keys from words. */
const DIGIT = '(?=[A-Za-z0-9._~+/-]{0,80}[0-9])';
const shape = (kind: string, head: string, run: string, min: number, more: Partial<Shape> = {}): Shape => ({
  kind,
  triggers: [head],
  head: head.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'),
  run,
  min,
  ...more,
});

export const SHAPES: readonly Shape[] = [
  // Clouds and code hosts
  {
    kind: 'aws_access_key',
    triggers: ['AKIA', 'ASIA', 'ABIA', 'ACCA'],
    edge: 'word',
    head: '(?:AKIA|ASIA|ABIA|ACCA)',
    run: '[A-Z0-9]',
    min: 16,
  },
  { kind: 'github_token', triggers: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], head: 'gh[pousr]_', run: W, min: 16 },
  shape('github_token', 'github_pat_', '[A-Za-z0-9_]', 20),
  {
    kind: 'gitlab_token',
    triggers: ['glpat-', 'gldt-', 'glrt-', 'glcbt-', 'glptt-', 'glft-', 'glsoat-', 'glagent-'],
    edge: 'word',
    head: 'gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent)-',
    run: '[A-Za-z0-9_.-]',
    min: 16,
  },
  shape('google_api_key', 'AIza', B, 30, { edge: 'word' }),
  shape('google_oauth', 'ya29.', B, 20, { edge: 'word' }),
  shape('google_oauth', '1//0', B, 30, { edge: 'word' }),
  shape('google_oauth', 'GOCSPX-', B, 20, { edge: 'word' }),
  shape('alibaba_key', 'LTAI', W, 16, { edge: 'word' }),
  shape('digitalocean_token', 'dop_v1_', HEX, 32),
  shape('digitalocean_token', 'doo_v1_', HEX, 32),
  shape('fly_token', 'FlyV1 fm2_', '[A-Za-z0-9+/=_,-]', 20),
  shape('supabase_token', 'sbp_', HEX, 32, { edge: 'word' }),
  shape('planetscale_token', 'pscale_tkn_', B, 20),
  shape('tailscale_key', 'tskey-', B, 20, { edge: 'word' }),
  shape('doppler_token', 'dp.pt.', W, 30, { edge: 'word' }),
  shape('terraform_token', 'atlasv1.', B, 40),
  shape('vault_token', 'hvs.', B, 20, { edge: 'word' }),
  shape('vault_token', 'hvb.', B, 20, { edge: 'word' }),
  shape('vault_token', 'hvr.', B, 20, { edge: 'word' }),
  shape('atlassian_token', 'ATATT3', '[A-Za-z0-9_=.-]', 40, { edge: 'word' }),
  // Package registries
  shape('npm_token', 'npm_', W, 20, { edge: 'word' }),
  shape('pypi_token', 'pypi-', B, 32, { edge: 'word' }),
  shape('rubygems_key', 'rubygems_', HEX, 32),
  shape('docker_token', 'dckr_pat_', B, 16),
  shape('docker_token', 'dckr_oat_', B, 16),
  // Model providers
  { kind: 'provider_key', triggers: ['sk-'], edge: 'word', head: 'sk-', run: W, min: 20 },
  {
    kind: 'provider_key',
    triggers: ['sk-'],
    edge: 'word',
    head: 'sk-(?:[a-z0-9]{2,12}-){1,3}(?=[A-Za-z0-9_-]{0,80}[0-9])',
    run: B,
    min: 20,
  },
  shape('provider_key', 'gsk_', W, 20, { edge: 'word' }),
  shape('provider_key', 'xai-', W, 20, { edge: 'word' }),
  shape('provider_key', 'hf_', W, 20, { edge: 'word' }),
  shape('provider_key', 'r8_', W, 30, { edge: 'word' }),
  shape('provider_key', 'pplx-', W, 30, { edge: 'word' }),
  shape('provider_key', 'tvly-', B, 20, { edge: 'word' }),
  shape('provider_key', 'nvapi-', B, 20, { edge: 'word' }),
  // Services
  {
    kind: 'slack_token',
    triggers: ['xoxa-', 'xoxb-', 'xoxe', 'xoxo-', 'xoxp-', 'xoxr-', 'xoxs-'],
    edge: 'word',
    head: 'xox[abeoprs][-.]',
    run: '[A-Za-z0-9.-]',
    min: 10,
  },
  shape('slack_token', 'xapp-', '[A-Za-z0-9-]', 20, { edge: 'word' }),
  {
    kind: 'slack_webhook',
    triggers: ['hooks.slack.com/'],
    keep: 'hooks\\.slack\\.com/(?:services|workflows|triggers)/',
    head: '',
    run: '[A-Za-z0-9/_-]',
    min: 16,
  },
  { kind: 'discord_webhook', triggers: ['/webhooks/'], keep: '/webhooks/[0-9]{15,22}/', head: '', run: B, min: 30 },
  {
    kind: 'payment_key',
    triggers: ['sk_live_', 'sk_test_', 'rk_live_', 'rk_test_'],
    edge: 'word',
    head: '[sr]k_(?:live|test)_',
    run: W,
    min: 10,
  },
  shape('payment_key', 'whsec_', '[A-Za-z0-9+/=]', 20, { edge: 'word' }),
  {
    kind: 'shopify_token',
    triggers: ['shpat_', 'shpca_', 'shppa_', 'shpss_'],
    edge: 'word',
    head: 'shp(?:at|ca|pa|ss)_',
    run: '[0-9a-fA-F]',
    min: 24,
  },
  { kind: 'square_token', triggers: ['sq0atp-', 'sq0csp-'], edge: 'word', head: 'sq0(?:atp|csp)-', run: B, min: 20 },
  { kind: 'sendgrid_key', triggers: ['SG.'], edge: 'word', head: 'SG\\.[A-Za-z0-9_-]{16,32}\\.', run: B, min: 16 },
  { kind: 'telegram_token', triggers: [':AA'], keep: '(?<=(?<![0-9])[0-9]{6,12}):', head: 'AA', run: B, min: 30 },
  {
    kind: 'twilio_key',
    triggers: [...'0123456789abcdef'].map((digit) => `SK${digit}`),
    edge: 'word',
    head: 'SK',
    run: HEX,
    min: 32,
  },
  shape('linear_key', 'lin_api_', W, 20),
  shape('notion_token', 'ntn_', W, 30, { edge: 'word' }),
  shape('figma_token', 'figd_', B, 20, { edge: 'word' }),
  { kind: 'sentry_token', triggers: ['sntrys_', 'sntryu_'], edge: 'word', head: 'sntry[su]_', run: '[A-Za-z0-9_=+/-]', min: 30 },
  { kind: 'grafana_token', triggers: ['glsa_', 'glc_'], edge: 'word', head: 'gl(?:sa|c)_', run: '[A-Za-z0-9_=+/]', min: 28 },
  shape('postman_key', 'PMAK-', '[0-9a-f-]', 30, { edge: 'word' }),
  shape('newrelic_key', 'NRAK-', '[A-Z0-9]', 20, { edge: 'word' }),
  shape('age_key', 'AGE-SECRET-KEY-1', '[A-Z0-9]', 40, { edge: 'word' }),
  { kind: 'jwt', triggers: ['eyJ'], edge: 'dash', head: 'eyJ[A-Za-z0-9_-]{8,2048}\\.', run: '[A-Za-z0-9_.-]', min: 8, reach: 2100 },
  // Headers and command lines
  {
    kind: 'authorization',
    triggers: ['authorization'],
    any_case: true,
    keep: `authorization${QUOTE}\\]?${BLANKS}[:=,]${BLANKS}${QUOTE}(?:bearer|basic|token|negotiate|apikey|api-key|bot|key)[ \\t]{1,8}`,
    head: `${REAL}(?!auth|scheme|token\\b|realm)`,
    run: '[^\\s"\'`\\\\<>,;]',
    min: 6,
  },
  {
    kind: 'authorization',
    triggers: ['authorization'],
    any_case: true,
    keep: `authorization${QUOTE}\\]?${BLANKS}[:=]${BLANKS}${QUOTE}(?:digest|hmac|oauth|aws4-hmac-sha256|signature)[ \\t]{1,8}`,
    head: `${REAL}[a-z_-]{1,32}=`,
    run: "[^\\r\\n'`\\\\]",
    min: 6,
  },
  {
    kind: 'authorization',
    triggers: ['authorization'],
    any_case: true,
    keep: `authorization${QUOTE}\\]?${BLANKS}[:=]${BLANKS}${QUOTE}`,
    head: `${REAL}${DIGIT}`,
    run: '[A-Za-z0-9._~+/=-]',
    min: 16,
  },
  {
    kind: 'bearer_token',
    triggers: ['bearer '],
    edge: 'word',
    any_case: true,
    keep: 'bearer[ \\t]{1,4}',
    head: DIGIT,
    run: '[A-Za-z0-9._~+/=-]',
    min: 16,
  },
  {
    kind: 'cookie',
    triggers: ['cookie'],
    edge: 'dash',
    any_case: true,
    keep: `cookie${QUOTE}${BLANKS}:${BLANKS}${QUOTE}`,
    head: '[\\w!#$%&*+.^|~-]{1,128}=',
    run: '[^\\r\\n"\'`\\\\]',
    min: 1,
  },
  {
    kind: 'cookie',
    triggers: ['set-cookie'],
    any_case: true,
    keep: `set-cookie${QUOTE}${BLANKS}:${BLANKS}${QUOTE}[\\w!#$%&*+.^|~-]{1,128}=`,
    head: REAL,
    run: '[^;\\s"\'`\\\\]',
    min: 4,
  },
  { kind: 'cookie', triggers: ['--cookie'], keep: `--cookie[ =]${QUOTE}`, head: '[\\w.-]{1,64}=', run: '[^\\s"\'`]', min: 1 },
  {
    kind: 'password',
    triggers: [' -u'],
    keep: `(?<=(?:curl|wget|http|https)\\b[^\\n|;]{0,200}) -u ?${QUOTE}[^\\s:"'@/[]{0,64}:`,
    head: REAL,
    run: '[^\\s"\'`]',
    min: 1,
  },
  {
    kind: 'password',
    triggers: ['--user'],
    keep: `(?<=(?:curl|wget)\\b[^\\n|;]{0,200})--user[ =]${QUOTE}[^\\s:"'@/[]{0,64}:`,
    head: REAL,
    run: '[^\\s"\'`]',
    min: 1,
  },
  {
    kind: 'password',
    triggers: [' -p'],
    keep: `(?<=(?:mysql|mysqldump|mysqladmin|mariadb)\\b[^\\n|;]{0,200}) -p${QUOTE}`,
    head: REAL,
    run: '[^\\s"\'`]',
    min: 3,
  },
  { kind: 'password', triggers: ['sshpass'], keep: `sshpass[ ]{1,4}-p ?${QUOTE}`, head: REAL, run: '[^\\s"\'`]', min: 1 },
  // Files with a form of their own
  {
    kind: 'password',
    triggers: ['machine'],
    edge: 'word',
    keep: 'machine\\s{1,16}\\S{1,255}(?:\\s{1,16}(?:login|account)\\s{1,16}\\S{1,255}){0,2}\\s{1,16}password\\s{1,16}',
    head: REAL,
    run: '\\S',
    min: 1,
    reach: 1100,
  },
  {
    kind: 'password',
    triggers: ['login'],
    edge: 'word',
    keep: 'login\\s{1,16}(?!and\\b|or\\b|with\\b|&)\\S{1,255}\\s{1,16}password\\s{1,16}',
    head: REAL,
    run: '\\S',
    min: 1,
    reach: 600,
  },
  {
    kind: 'npm_auth',
    triggers: ['_auth'],
    keep: `_auth${QUOTE}${BLANKS}[=:]${BLANKS}${QUOTE}`,
    head: REAL,
    run: '[A-Za-z0-9+/=_-]',
    min: 8,
  },
  { kind: 'docker_auth', triggers: ['"auth"'], keep: `"auth"${BLANKS}:${BLANKS}"`, head: '', run: '[A-Za-z0-9+/=]', min: 8 },
  {
    kind: 'signature',
    triggers: ['sig=', 'signature='],
    any_case: true,
    keep: '(?<=[?&;](?:x-amz-)?)sig(?:nature)?=',
    head: REAL,
    run: '[A-Za-z0-9%+/=_-]',
    min: 16,
  },
  {
    kind: 'password',
    triggers: [';pwd', ';pas', '; pwd', '; pas'],
    any_case: true,
    keep: `;${BLANKS}(?:pwd|password)=`,
    head: REAL,
    run: '[^;\\s"\'`]',
    min: 1,
  },
];
