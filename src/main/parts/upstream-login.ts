import { setTimeout as sleep } from 'node:timers/promises';
import type { LoginPort } from '../../cli/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { openLoopback, type UpstreamSettings } from '../../upstreams/index.ts';
import { callbackAt } from './login-base.ts';
import type { UpstreamLogins } from './upstream-logins.ts';

export interface LoginHere {
  readonly logins: UpstreamLogins;
  readonly person: string;
  /** It was granted. */
  record(): Promise<void>;
}

const WAIT_MS = 10 * 60_000;
const FINISH_MS = 30_000;
const LOOK_MS = 300;

/** A login that is begun in a terminal, and whose browser comes back to `writ up`. */
export async function openLoginAtServer(settings: UpstreamSettings, base: string, { logins, person }: LoginHere): Promise<LoginPort> {
  const over = new AbortController();
  const back = callbackAt(base);
  const { redirect_uri } = back;
  const before = await logins.since(settings);
  const begun = await logins.begin(settings, { ...back, person, signal: over.signal });
  return {
    address: begun.authorization_url,
    redirect_uri,
    async finished() {
      const until = performance.now() + WAIT_MS;
      while ((await logins.since(settings)) === before) {
        if (performance.now() > until) throw new AppError('expired_unanswered', 'The browser did not come back within 10 minutes.');
        await sleep(LOOK_MS, undefined, { signal: over.signal });
      }
    },
    answer: async () => {
      throw new AppError('invalid_arguments', `The browser comes back to ${redirect_uri} by itself.`);
    },
    close: () => over.abort(),
  };
}

/** What came to `writ up`. */
export async function finishAtServer(
  answer: URLSearchParams,
  here: Pick<LoginHere, 'logins' | 'person'> & { record(name: string): Promise<void> },
): Promise<{ readonly name: string }> {
  const { logins, person } = here;
  const finished = await logins.finish(answer, { person, signal: AbortSignal.timeout(FINISH_MS) });
  await here.record(finished.name);
  return finished;
}

/** A login from a terminal: the browser comes back to a port of this machine, or a person brings what it ended at. */
export async function openLogin(settings: UpstreamSettings, here: LoginHere): Promise<LoginPort> {
  const { logins, person } = here;
  const { name, transport } = settings;
  const oauth = transport.type === 'stdio' ? undefined : transport.oauth;
  const loopback = await openLoopback(oauth ? (oauth.callback_port ?? 0) : 0);
  const over = new AbortController();
  let state: string | undefined;
  const done = Promise.withResolvers<void>();
  // Nobody may be waiting for it just now.
  done.promise.catch(() => {});
  const late = setTimeout(() => {
    over.abort();
    done.reject(new AppError('expired_unanswered', 'The browser did not come back within 10 minutes.'));
  }, WAIT_MS).unref();

  async function take(answer: URLSearchParams): Promise<string> {
    await finish(settings, answer, here, over.signal);
    done.resolve();
    return `Writ is logged in to ${name}. You can close this window.`;
  }

  try {
    loopback.onAnswer(async (answer) => {
      try {
        return await take(answer);
      } catch (thrown) {
        // Anybody may send something here: only the answer to this very login ends the wait for it.
        if (state !== undefined && answer.get('state') === state) done.reject(thrown);
        throw thrown;
      }
    });
    const begun = await logins.begin(settings, { redirect_uri: loopback.redirect_uri, person, signal: over.signal });
    state = begun.state;
    return {
      address: begun.authorization_url,
      redirect_uri: loopback.redirect_uri,
      finished: () => done.promise,
      answer: async (address) => void (await take(paramsOf(address))),
      close,
    };
  } catch (thrown) {
    close();
    throw thrown;
  }

  function close(): void {
    clearTimeout(late);
    loopback.close();
    over.abort();
  }
}

/** Ends a login that another process of this user has begun. */
export async function answerLogin(settings: UpstreamSettings, address: string, here: LoginHere): Promise<void> {
  await finish(settings, paramsOf(address), here, AbortSignal.timeout(FINISH_MS));
}

async function finish(settings: UpstreamSettings, answer: URLSearchParams, here: LoginHere, signal: AbortSignal): Promise<void> {
  await here.logins.finish(answer, { person: here.person, name: settings.name, signal });
  await here.record();
}

function paramsOf(address: string): URLSearchParams {
  const url = URL.parse(address.trim());
  if (url?.searchParams.has('state') === true) return url.searchParams;
  throw new AppError('invalid_arguments', 'That is not the address that the browser ended at: it holds no "state".', {
    fix: 'Copy the whole address out of the address bar.',
  });
}
