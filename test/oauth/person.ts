import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../../src/kernel/clock.ts';
import type { Logger } from '../../src/kernel/logger.ts';
import { openWay } from '../../src/main/parts/http-upstream.ts';
import { createUpstreamLogins, type UpstreamLogins } from '../../src/main/parts/upstream-logins.ts';
import { authorizedFetch, type Begun, readSettings, type UpstreamOAuth, type UpstreamSettings } from '../../src/upstreams/index.ts';
import { browse } from './issuer.ts';

export const CALLBACK = 'http://127.0.0.1/callback';

/** A Writ home and the person whose it is, who logs in to servers. */
export interface Person {
  readonly home: string;
  readonly logins: UpstreamLogins;
  readonly warnings: string[];
  /** The clock of the home, to be put forward. */
  readonly time: { ahead_ms: number };
  begin(settings: UpstreamSettings): Promise<Begun>;
  finish(answer: URLSearchParams, person?: string): Promise<unknown>;
  /** Both, with a browser in between. */
  logIn(settings: UpstreamSettings): Promise<URL>;
  /** A tool of the server is called with the login; the text of its answer. AppError as the gateway gets it. */
  call(settings: UpstreamSettings, text?: string): Promise<string>;
  remove(): void;
}

export function makePerson(home: string = mkdtempSync(join(tmpdir(), 'writ-oauth-'))): Person {
  const warnings: string[] = [];
  const time = { ahead_ms: 0 };
  const clock: Clock = { now: () => systemClock.now() + time.ahead_ms, monotonic: () => systemClock.monotonic() + time.ahead_ms };
  const warn = (message: string): void => void warnings.push(message);
  const logger: Logger = { debug: warn, info: warn, warn, error: warn };
  const logins = createUpstreamLogins({ home, clock, logger, transportOf: async ({ transport }) => transport });
  const signal = AbortSignal.timeout(60_000);

  const begin = (settings: UpstreamSettings): Promise<Begun> => logins.begin(settings, { redirect_uri: CALLBACK, person: 'ann', signal });
  const finish = (answer: URLSearchParams, person = 'ann'): Promise<unknown> => logins.finish(answer, { person, signal });

  return {
    home,
    logins,
    warnings,
    time,
    begin,
    finish,
    async logIn(settings) {
      const { authorization_url } = await begin(settings);
      const back = await browse(authorization_url, CALLBACK);
      await finish(back.searchParams);
      return back;
    },
    async call(settings, text = 'hello') {
      const { transport } = settings;
      if (transport.type === 'stdio') throw new Error('it is no remote server');
      const login = logins.live(settings, transport, 'log in');
      if (login === undefined) throw new Error('it takes no login');
      const way = openWay([transport.url, ...login.addresses]);
      try {
        const fetch = authorizedFetch(way.fetch, new URL(transport.url).origin, login.open(way.fetch));
        const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo', arguments: { text } } });
        const response = await fetch(transport.url, { method: 'POST', body });
        const answer = (await response.json()) as { result?: { content: { text: string }[] } };
        return answer.result?.content[0]?.text ?? `HTTP ${response.status}`;
      } finally {
        await way.close();
      }
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

export function remote(name: string, url: string, oauth: UpstreamOAuth = {}): UpstreamSettings {
  const read = readSettings(
    name,
    { source: 'operator', entry: { url, oauth } },
    { writ_home: '/nowhere', user: { name: 'ann', home: '/nowhere', shell: undefined } },
  );
  if (read.ok) return read.settings;
  throw new Error(JSON.stringify(read.problems));
}
