import type { Clock } from '../kernel/clock.ts';
import { isRequestId, type Members } from '../kernel/json-rpc/message.ts';

/** The most often that one call says something, and the longest that it says nothing. */
const EVERY_MS = 5_000;
const MAX_MESSAGE = 500;

export interface Progress {
  report(message: string): void;
  /**
   * What the program behind the call says of its progress, at once and in its own numbers, as long as they grow; from then on we say
   * nothing in ours. False where the client gave no token.
   */
  relay(params: Members): boolean;
  /** Nothing is sent after this: the answer comes next. */
  stop(): void;
}

const NONE: Progress = { report() {}, relay: () => false, stop() {} };

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
  let relayed: number | undefined;

  function send(message: string): void {
    sentAt = clock.monotonic();
    steps++;
    offer({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress: steps, message } });
  }
  const timer = setInterval(() => {
    if (relayed !== undefined) return;
    const seconds = Math.round((clock.monotonic() - startedAt) / 1000);
    send(latest === undefined ? `still running after ${seconds} s` : `${latest} (${seconds} s)`);
  }, EVERY_MS);
  timer.unref();
  let stopped = false;

  return {
    report(message) {
      if (stopped || relayed !== undefined) return;
      latest = message.slice(0, MAX_MESSAGE).toWellFormed();
      if (clock.monotonic() - sentAt >= EVERY_MS) {
        send(latest);
        timer.refresh();
      }
    },
    relay({ progress, total, message }) {
      if (stopped || typeof progress !== 'number' || progress <= (relayed ?? steps)) return true;
      relayed = progress;
      const more = {
        ...(typeof total === 'number' ? { total } : {}),
        ...(typeof message === 'string' ? { message: message.slice(0, MAX_MESSAGE).toWellFormed() } : {}),
      };
      offer({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: token, progress, ...more } });
      return true;
    },
    stop() {
      stopped = true;
      clearInterval(timer);
    },
  };
}
