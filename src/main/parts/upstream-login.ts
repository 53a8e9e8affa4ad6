import type { LoginPort } from '../../cli/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { openLoopback, type UpstreamSettings } from '../../upstreams/index.ts';
import type { UpstreamLogins } from './upstream-logins.ts';

export interface LoginHere {
  readonly logins: UpstreamLogins;
  readonly person: string;
  /** It was granted. */
  record(): Promise<void>;
}

const WAIT_MS = 10 * 60_000;
const FINISH_MS = 30_000;

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
  const { name } = settings;
  const settingsOf = (asked: string): UpstreamSettings | undefined => (asked === name ? settings : undefined);
  await here.logins.finish(answer, { person: here.person, name, settingsOf, signal });
  await here.record();
}

function paramsOf(address: string): URLSearchParams {
  const url = URL.parse(address.trim());
  if (url?.searchParams.has('state') === true) return url.searchParams;
  throw new AppError('invalid_arguments', 'That is not the address that the browser ended at: it holds no "state".', {
    fix: 'Copy the whole address out of the address bar.',
  });
}
