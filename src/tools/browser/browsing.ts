import {
  createReachGuard,
  createTraffic,
  type Guard,
  type GuardOptions,
  isPlace,
  type Place,
  type Traffic,
} from '../../execution/index.ts';
import type { Owner } from '../../execution/types.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Logger } from '../../kernel/logger.ts';
import { aborted, bounded } from './bounded.ts';
import { pageGone } from './page-gone.ts';
import type { OpenPlaces } from './places.ts';
import { portOf } from './places.ts';
import type { BrowserPage, Engine } from './types.ts';

/**
 * Where pages come from. `outside`: a host that a person said yes to, whose page may load parts from any public host. `inside`: what needs no
 * question, and reaches nothing else. One context never holds both: a page of the outside must not reach into this machine, and what an
 * agent serves to itself must not reach out.
 */
export type Side = 'outside' | 'inside';

export interface Session {
  readonly side: Side;
  readonly engine: Pick<Engine, 'mode' | 'notes'>;
  readonly page: BrowserPage;
  readonly traffic: Traffic;
  /** Why the page as a whole must not be at this address. */
  barred(url: string): Promise<string | undefined>;
  /** Hosts that the page as a whole may go to, by a person's yes, as long as it is open. */
  opened: readonly Place[];
}

export interface BrowsingParts {
  /** The engine to use now; asked again when the last one has ended. */
  startEngine(): Promise<Engine>;
  readonly logger: Logger;
  /** For tests: names of their own. */
  makeGuard?(options: GuardOptions): Guard;
  readonly times?: Partial<typeof TIMES>;
}

const TIMES = {
  /** A page that nobody asked anything of for so long is closed. */
  idle_ms: 300_000,
  /** The engine is ended when it has shown no page for so long. */
  engine_idle_ms: 60_000,
  /** One action, however it goes. */
  action_ms: 30_000,
};

export const MAX_PAGES = 8;
const MAX_LOST = 64;
/** Calls of one Run that wait for its page. */
const MAX_WAITING = 8;

/** The pages of one process: one for each Run, at most eight. */
export interface Browsing {
  /** The page of this Run; another Run's or agent's is as if it weren't there. */
  find(owner: Owner): Session | undefined;
  /** Why it has none any more, where that wasn't its own doing. */
  lostBecause(owner: Owner): string | undefined;
  /**
   * A fresh page for this Run in place of the one it has. AppError busy when eight are open. Only within `use`, with the signal that it
   * gives: nobody would close a page that comes when it is over.
   */
  open(owner: Owner, side: Side, places: OpenPlaces, signal: AbortSignal): Promise<Session>;
  /**
   * One thing at a time on a page, within the bound. `acts`: it may change something, so that a page that doesn't answer, or a caller who
   * gives up, costs the page: nobody knows how far it came.
   */
  use<T>(owner: Owner, acts: boolean, signal: AbortSignal, work: (over: AbortSignal) => Promise<T>): Promise<T>;
  close(owner: Pick<Owner, 'organization' | 'agent' | 'run'>): Promise<boolean>;
  /** A Run is over, whoever's it was. */
  closeRun(run: string): Promise<void>;
  /** An agent may do nothing any more: all of its pages, of whichever Run. */
  closeAgent(agent: Pick<Owner, 'organization' | 'agent'>, why: string): Promise<void>;
  /** Ends everything. */
  end(): Promise<void>;
}

const ELSEWHERE = 'it is neither the port of a job that runs nor in browser.allow_hosts';

interface Held {
  readonly owner: Pick<Owner, 'organization' | 'agent' | 'run'>;
  session?: Session;
  timer?: NodeJS.Timeout;
  waiting: number;
  tail: Promise<void>;
}

export function createBrowsing(parts: BrowsingParts): Browsing {
  const times = { ...TIMES, ...parts.times };
  /** Why the page of a Run is gone, for whoever asks for it next. */
  const lost = new Map<string, string>();
  const remember = (key: string, why: string): void => {
    lost.set(key, why);
    const [oldest] = lost.keys();
    if (lost.size > MAX_LOST && oldest !== undefined) lost.delete(oldest);
  };
  const held = new Map<string, Held>();
  let engine: Promise<Engine> | undefined;
  let idle: NodeJS.Timeout | undefined;
  let opening = 0;

  const currentEngine = (): Promise<Engine> => {
    clearTimeout(idle);
    if (engine !== undefined) return engine;
    const started = parts.startEngine();
    engine = started;
    const forget = (): void => {
      if (engine === started) engine = undefined;
    };
    started.then(({ ended }) => ended.then(forget), forget);
    return started;
  };
  const endEngine = async (): Promise<void> => {
    const last = engine;
    engine = undefined;
    await (await last?.catch(() => undefined))?.close();
  };
  const restWhenIdle = (): void => {
    if ([...held.values()].some(({ session }) => session !== undefined)) return;
    clearTimeout(idle);
    idle = setTimeout(() => {
      endEngine().catch((thrown: unknown) => parts.logger.warn('the browser could not be ended', { reason: toAppError(thrown).message }));
    }, times.engine_idle_ms);
    idle.unref();
  };

  const drop = async (entry: Held): Promise<boolean> => {
    const { session } = entry;
    clearTimeout(entry.timer);
    if (session === undefined) return false;
    delete entry.session;
    restWhenIdle();
    await session.page
      .close()
      .catch((thrown: unknown) => parts.logger.warn('a page could not be closed', { reason: toAppError(thrown).message }));
    return true;
  };
  const touch = (key: string, entry: Held): void => {
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => {
      remember(key, `nobody used it for ${times.idle_ms / 60_000} minutes`);
      void drop(entry).finally(() => entry.waiting === 0 && held.delete(key));
    }, times.idle_ms);
    entry.timer.unref();
  };
  const entryOf = (owner: Owner): Held => {
    const key = keyOf(owner);
    const known = held.get(key);
    if (known) return known;
    const { organization, agent, run } = owner;
    const fresh: Held = { owner: { organization, agent, run }, waiting: 0, tail: Promise.resolve() };
    held.set(key, fresh);
    return fresh;
  };
  /** Nothing is remembered of a Run without a page. */
  const forgetIfEmpty = (owner: Owner, entry: Held): void => {
    if (entry.waiting === 0 && entry.session === undefined) held.delete(keyOf(owner));
  };

  const watch = (owner: Owner, entry: Held, session: Session): void => {
    lost.delete(keyOf(owner));
    session.page.gone.then((why) => {
      if (entry.session !== session) return;
      remember(keyOf(owner), why);
      void drop(entry).finally(() => forgetIfEmpty(owner, entry));
    });
  };

  return {
    find: (owner) => held.get(keyOf(owner))?.session,
    lostBecause: (owner) => lost.get(keyOf(owner)),

    async open(owner, side, places, signal) {
      const entry = entryOf(owner);
      await drop(entry);
      const open = [...held.values()].filter(({ session }) => session !== undefined).length;
      if (open + opening >= MAX_PAGES) {
        throw new AppError('busy', `${MAX_PAGES} pages are open, and no more are kept at a time.`, {
          fix: 'Close one with {"action": "close"}; a page that is not used is closed after 5 minutes.',
        });
      }
      const traffic = createTraffic();
      const reach = { outside: side === 'outside', places: side === 'inside' ? places.list : async () => [] };
      const guard = createReachGuard(reach, traffic, parts.makeGuard);
      const barred = async (url: string): Promise<string | undefined> => {
        const target = URL.parse(url);
        if (target === null || (target.protocol !== 'http:' && target.protocol !== 'https:')) return 'it is not http or https';
        const allowed = side === 'inside' ? await places.list() : (entry.session?.opened ?? []);
        if (isPlace(allowed, target.hostname, portOf(target))) return undefined;
        return side === 'inside' ? ELSEWHERE : 'it is another host, and a question of its own';
      };
      opening += 1;
      try {
        const current = await currentEngine();
        const page = await current.open({ guard, barred });
        if (signal.aborted) {
          await page.close();
          throw new AppError('cancelled', 'The call was over before its page was open.');
        }
        const session: Session = { side, engine: current, page, traffic, barred, opened: [] };
        entry.session = session;
        watch(owner, entry, session);
        return session;
      } finally {
        opening -= 1;
      }
    },

    async use(owner, acts, signal, work) {
      const entry = entryOf(owner);
      if (entry.waiting >= MAX_WAITING) throw new AppError('busy', `${MAX_WAITING} calls wait for this page already.`);
      entry.waiting += 1;
      const before = entry.tail;
      const turn = Promise.withResolvers<void>();
      entry.tail = turn.promise;
      try {
        await Promise.race([before, aborted(signal)]);
        if (signal.aborted) throw new AppError('cancelled', 'The request was cancelled before the page was asked anything.');
        clearTimeout(entry.timer);
        return await bounded({ acts, signal, ms: parts.times?.action_ms ?? TIMES.action_ms }, work, () => drop(entry));
      } finally {
        entry.waiting -= 1;
        // Whoever gave up while waiting must not let the next one in beside the one before.
        before.then(() => turn.resolve());
        if (entry.session !== undefined) touch(keyOf(owner), entry);
        forgetIfEmpty(owner, entry);
      }
    },

    async close(owner) {
      const entry = held.get(keyOf(owner));
      return entry === undefined ? false : drop(entry);
    },
    async closeRun(run) {
      await Promise.all([...held.values()].filter(({ owner }) => owner.run === run).map(drop));
    },
    async closeAgent({ organization, agent }, why) {
      const its = [...held].filter(([, { owner }]) => owner.organization === organization && owner.agent === agent);
      await Promise.all(
        its.map(async ([key, entry]) => {
          if (entry.session !== undefined) remember(key, why);
          await drop(entry);
          if (entry.waiting === 0 && entry.session === undefined) held.delete(key);
        }),
      );
    },
    async end() {
      clearTimeout(idle);
      await Promise.all([...held.values()].map(drop));
      clearTimeout(idle);
      await endEngine();
    },
  };
}

function keyOf({ organization, agent, run }: Pick<Owner, 'organization' | 'agent' | 'run'>): string {
  return JSON.stringify([organization, agent, run]);
}

/** What is asked of a page, as long as there is the page. */
export async function whileOpen<T>({ page }: Session, asked: Promise<T>): Promise<T> {
  asked.catch(() => undefined);
  return Promise.race([
    asked,
    page.gone.then((why): never => {
      throw pageGone(why);
    }),
  ]);
}
