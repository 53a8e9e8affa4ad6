import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError, errnoOf } from '../../kernel/errors.ts';
import type { Installing } from './types.ts';

/** Where packages come from and with which credential. What runs programs or changes where things are put (`script-shell`, `git`, `prefix`) stays away. */
const TAKEN = /^(?:(?:@[\w.-]+:)?registry|\/\/[^\s:]+:(?:_authToken|_auth|username|_password|email)|strict-ssl|proxy|https-proxy|noproxy)$/;
const MAX_BYTES = 256 * 1024;
const PROXIES = ['HTTPS_PROXY', 'https_proxy', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'] as const;
const PROXY_RELATED = [...PROXIES, 'NO_PROXY', 'no_proxy'];

export interface NpmSettings {
  /** Of a `.npmrc` beside the packages while they are installed. */
  readonly text: string;
  readonly registries: readonly string[];
  /** Variables of a proxy; where there is one it has to be reached itself. */
  readonly proxy: Readonly<Record<string, string>> | undefined;
}

/** What of the person's own settings of npm an installation has: `~/.npmrc` (or NPM_CONFIG_USERCONFIG) and NPM_CONFIG_REGISTRY. */
export function readNpmSettings({ user_home, host_env }: Pick<Installing, 'user_home' | 'host_env'>, folder: string): NpmSettings {
  const configured = (name: string): string | undefined =>
    Object.entries(host_env).find(([key]) => key.toLowerCase() === `npm_config_${name}`)?.[1];
  const path = configured('userconfig') ?? (user_home === undefined ? undefined : join(user_home, '.npmrc'));
  const settings = new Map<string, string>();
  let cafile = configured('cafile') ?? host_env['NODE_EXTRA_CA_CERTS'];
  for (const line of (path === undefined ? '' : textAt(path)).split('\n')) {
    const [, key = '', given = ''] = /^\s*([^#;=\s][^=]*?)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    const value = given.replace(/^(["'])(.*)\1$/, '$2').replace(/\$\{([^}]+)\}/g, (whole, name: string) => host_env[name] ?? whole);
    if (TAKEN.test(key)) settings.set(key, value);
    else if (key === 'cafile') cafile = value;
  }
  const registry = configured('registry');
  if (registry) settings.set('registry', registry);
  // What lies in the home can't be seen by the installer; what it says can be given.
  const authorities = cafile === undefined || cafile === '' ? '' : textAt(cafile);
  if (authorities !== '') {
    const copy = join(folder, '.authorities.pem');
    writeFileSync(copy, authorities, { mode: 0o600 });
    settings.set('cafile', copy);
  }
  const proxied = PROXIES.some((name) => host_env[name]) || settings.has('proxy') || settings.has('https-proxy');
  const variables = PROXY_RELATED.flatMap((name) => (host_env[name] ? [[name, host_env[name]] as const] : []));
  return {
    text: [...settings].map(([key, value]) => `${key}=${value}\n`).join(''),
    registries: [...settings].flatMap(([key, value]) => (/(?:^|:)registry$/.test(key) ? [value] : [])),
    proxy: proxied ? Object.fromEntries(variables) : undefined,
  };
}

function textAt(path: string): string {
  try {
    const text = readFileSync(path, 'utf8');
    if (text.length <= MAX_BYTES * 4) return text;
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return '';
    throw new AppError('config_invalid', `${path}, which npm is configured with, can't be read (${errnoOf(thrown) ?? String(thrown)}).`);
  }
  throw new AppError('config_invalid', `${path}, which npm is configured with, is too big.`);
}
