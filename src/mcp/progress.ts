import type { Clock } from '../kernel/clock.ts';
import { isRequestId, type Members } from '../kernel/json-rpc/message.ts';

/** The most often that one call says something, and the longest that it says nothing. */
const EVERY_MS = 5_000;
const MAX_MESSAGE = 500;

export interface Progress {
  report(message: string): void;
  /** Nothing is sent after this: the answer comes next. */
  stop(): void;
}

const NONE: Progress = { report() {}, stop() {} };

/**
 * Progress of one call, for a client that gave a token: at most one notification in 5 s with the newest message, and one every 5 s
 * even if there is nothing new, since hosts give up on a call that stays silent. A token of a wrong type counts as none.
 */
export function createProgress(params: Members, clock: Clock, offer: (message: unknown) => void): Progress {
  const meta = params['_meta'];
  const token = typeof meta === 'object' && meta !== null && 'progressToken' in meta ? meta.progressToken : undefined;
  if (!isRequestId(token)) return NONE;

  const startedAt = clock.monotonic();
  let sentAt = Number.NEGATIVE_INFINITY;
  let steps = 0;
  let latest: string | undefined;

  function send(message: string): void {
    sentAt = clock.monotonic();
    steps++;
    offer({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: steps, message } });
  }
  const timer = setInterval(() => {
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    send(latest === undefined ? `still running after ${seconds} s` : `${latest} (${seconds} s)`);
  }, EVERY_MS);
  timer.unref();
  let stopped = false;

  return {
    report(message) {
      if (stopped) return;
      latest = message.slice(0, MAX_MESSAGE).toWellFormed();
      if (clock.monotonic() - sentAt >= EVERY_MS) {
        send(latest);
        timer.refresh();
      }
    },
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
