import type { Owner } from '../execution/types.ts';
import type { Logger } from '../kernel/logger.ts';

/** What is waiting to be told with the next tool result. */
export interface Notices {
  take(owner: Owner): Promise<readonly string[]>;
  /** They could not be told after all: keep them for the next result. */
  putBack(owner: Owner, texts: readonly string[]): void;
}

/** An answer that is ready doesn't wait longer than this for a notice; what comes later goes with the next one. */
const WAIT_MS = 1_000;
const MAX_HELD = 32;

export function createNotices(ask: ((owner: Owner) => Promise<readonly string[]>) | undefined, logger: Logger): Notices {
  /** One connection over HTTP may work for several owners. */
  let held: { readonly owner: string; readonly text: string }[] = [];

  function putBack(owner: Owner, texts: readonly string[]): void {
    held = [...held, ...texts.map((text) => ({ owner: keyOf(owner), text }))];
    if (held.length <= MAX_HELD) return;
    logger.warn('notices are dropped because too many wait for a result to go with', { dropped: held.length - MAX_HELD });
    held = held.slice(-MAX_HELD);
  }

  function fresh(owner: Owner): Promise<readonly string[]> {
    if (ask === undefined) return Promise.resolve([]);
    return new Promise((resolve) => {
      let waiting = true;
      const timer = setTimeout(() => {
        waiting = false;
        resolve([]);
      }, WAIT_MS);
      ask(owner)
        .catch((error: unknown) => {
          logger.warn('notices could not be read', { reason: error instanceof Error ? error.message : String(error) });
          return [];
        })
        .then((texts) => {
          clearTimeout(timer);
          if (waiting) resolve(texts);
          else putBack(owner, texts);
        });
    });
  }

  return {
    async take(owner) {
      const texts = await fresh(owner);
      if (held.length === 0) return texts;
      const mine = held.filter((each) => each.owner === keyOf(owner)).map(({ text }) => text);
      held = held.filter((each) => each.owner !== keyOf(owner));
      return [...mine, ...texts];
    },
    putBack,
  };
}

function keyOf({ organization, agent, run, workspace }: Owner): string {
  return [organization, agent, run, workspace].join('\0');
}
