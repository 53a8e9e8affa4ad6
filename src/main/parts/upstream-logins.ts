import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import {
  type Begun,
  beginLogin,
  createAttempts,
  createLiveLogin,
  createLogins,
  finishLogin,
  type LoginTarget,
  loginKeyOf,
  logOut,
  readKeysFile,
  type UpstreamOAuth,
  type UpstreamSettings,
  type UpstreamTransport,
} from '../../upstreams/index.ts';
import { type LoginWay, openWay, type Way } from './http-upstream.ts';

export interface UpstreamLoginsParts {
  readonly home: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes what must not be seen anywhere. */
  learn?(source: string, secrets: readonly string[]): void;
  /** With secrets and variables filled in. */
  transportOf(settings: UpstreamSettings): Promise<UpstreamTransport>;
}

export interface LoginPlace {
  /** Where the browser comes back to. */
  readonly redirect_uri: string;
  readonly client_metadata_url?: string;
  readonly person: string;
  /** Known again when it comes back. */
  readonly browser?: string;
  readonly signal: AbortSignal;
}

/** Logins to remote servers of this home. */
export interface UpstreamLogins {
  /** Of a server's requests. Undefined: they go as they are. `how`: what a person does when one is needed. */
  live(settings: UpstreamSettings, transport: UpstreamTransport, how: string): LoginWay | undefined;
  /** AppError invalid_arguments for a server that takes no login. */
  begin(settings: UpstreamSettings, place: LoginPlace): Promise<Begun>;
  /** `name`: where only one server's answer is expected. */
  finish(
    answer: URLSearchParams,
    place: Pick<LoginPlace, 'person' | 'browser' | 'signal'> & { readonly name?: string },
  ): Promise<{ readonly name: string }>;
  /** When a person last logged in to it, epoch ms. */
  since(settings: UpstreamSettings): Promise<number | undefined>;
  forget(settings: UpstreamSettings): Promise<{ readonly was: boolean; readonly revoked: boolean }>;
}

export function createUpstreamLogins({ home, clock, logger, learn, transportOf }: UpstreamLoginsParts): UpstreamLogins {
  const logins = createLogins(home, learn);
  const attempts = createAttempts(home, clock);
  const parts = { logins, attempts, clock };

  async function targetOf(settings: UpstreamSettings): Promise<LoginTarget> {
    const transport = await transportOf(settings);
    const why = noLogin(transport);
    if (transport.type === 'stdio' || why !== undefined) {
      throw new AppError('invalid_arguments', `There is no login to "${settings.name}": ${why ?? 'it is a program on this machine'}.`);
    }
    return { key: loginKeyOf(settings, transport.url), oauth: oauthOf(transport.oauth) };
  }

  function oauthOf(oauth: UpstreamOAuth | false | undefined): UpstreamOAuth {
    const given = oauth || {};
    if (given.keys_file === undefined) return given;
    const keys = readKeysFile(home, given.keys_file);
    learn?.(`keys file ${given.keys_file}`, [keys.client_secret]);
    return { ...given, ...keys };
  }

  return {
    live(settings, transport, how) {
      if (transport.type === 'stdio' || noLogin(transport) !== undefined) return undefined;
      const target = { key: loginKeyOf(settings, transport.url), oauth: oauthOf(transport.oauth) };
      const { issuer } = target.oauth;
      return {
        addresses: issuer === undefined ? [] : [issuer],
        open: (fetch) => createLiveLogin({ target, logins, clock, logger, fetch, how }),
      };
    },
    async begin(settings, place) {
      const target = await targetOf(settings);
      const way = wayTo(target);
      return beginLogin(target, { ...place, fetch: way.fetch }, parts).finally(way.close);
    },
    async finish(answer, place) {
      let way: Way | undefined;
      const fetch = (of: LoginTarget): Way['fetch'] => {
        way = wayTo(of);
        return way.fetch;
      };
      return finishLogin(answer, { ...place, fetch }, parts).finally(() => way?.close());
    },
    async since(settings) {
      const found = logins.read((await targetOf(settings)).key);
      return found.state === 'known' ? found.record.since : undefined;
    },
    async forget(settings) {
      const target = await targetOf(settings);
      const way = wayTo(target);
      return logOut(target.key, logins, way.fetch).finally(way.close);
    },
  };
}

function wayTo({ key, oauth: { issuer } }: LoginTarget): Way {
  return openWay(issuer === undefined ? [key.url] : [key.url, issuer]);
}

function noLogin(transport: UpstreamTransport): string | undefined {
  if (transport.type === 'stdio') return 'it is a program on this machine';
  if (transport.oauth === false) return 'its entry says "oauth": false';
  const own = Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization');
  return own ? 'it has an Authorization header of its own' : undefined;
}
