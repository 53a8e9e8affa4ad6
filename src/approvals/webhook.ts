import { createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../kernel/clock.ts';
import { newId } from '../kernel/ids.ts';
import type { Logger } from '../kernel/logger.ts';
import type { ApprovalRecord } from './types.ts';
import { webhookBody } from './webhook-body.ts';

export interface WebhookParts {
  readonly url: string;
  /** Signs what is sent; absent: it goes out unsigned. */
  readonly secret?: string;
  /** Where a person answers; shown in the message. */
  readonly page?: string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Waits before each further try, in ms. */
  readonly retries?: readonly number[];
}

/** Tells somebody elsewhere that a question waits. It only tells: the answer comes by a page or a terminal. */
export interface Webhook {
  notify(record: ApprovalRecord): void;
  /** Waits a little for what is under way, then gives the rest up. */
  close(): Promise<void>;
}

/** Messages under way or waiting. Beyond it new ones are dropped, and that is logged: the question itself is not lost. */
const MOST_WAITING = 64;
const RETRIES = [1_000, 5_000, 30_000, 120_000];
const ANSWER_MS = 10_000;
const CLOSE_MS = 3_000;

/**
 * One after the other, so that "decided" never overtakes "asked". A receiver that is down delays the rest by at most its tries; what is
 * over by then is still sent, since somebody was told that it waits.
 */
export function createWebhook({ url, secret, page, clock, logger, retries = RETRIES }: WebhookParts): Webhook {
  const closing = new AbortController();
  // The path of such an address is often a secret itself.
  const { host } = new URL(url);
  let waiting = 0;
  let last: Promise<void> = Promise.resolve();

  const send = async (body: string, id: string): Promise<void> => {
    for (let attempt = 0; ; attempt++) {
      const outcome = await post(body, id);
      if (outcome === 'taken') return;
      const wait = retries[attempt];
      if (outcome.final || wait === undefined || closing.signal.aborted) {
        logger.warn('a webhook was not taken', { host, reason: outcome.reason, tries: attempt + 1 });
        return;
      }
      await sleep(wait, undefined, { signal: closing.signal }).catch(() => {});
    }
  };

  const post = async (body: string, id: string): Promise<'taken' | { readonly final: boolean; readonly reason: string }> => {
    try {
      const response = await fetch(url, {
        method: 'POST',
        // A redirect would send the card and its signature to whoever it names.
        redirect: 'manual',
        headers: { 'content-type': 'application/json', 'writ-delivery': id, ...signed(body) },
        body,
        signal: AbortSignal.any([closing.signal, AbortSignal.timeout(ANSWER_MS)]),
      });
      await response.body?.cancel();
      if (response.ok) return 'taken';
      const again = response.status === 408 || response.status === 429 || response.status >= 500;
      return { final: !again, reason: `status ${response.status}` };
    } catch (thrown) {
      const cause = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
      return { final: false, reason: cause instanceof Error ? cause.name : 'unknown' };
    }
  };

  const signed = (body: string): Record<string, string> => {
    if (secret === undefined) return {};
    const t = Math.floor(clock.now() / 1000);
    return { 'writ-signature': `t=${t},v1=${createHmac('sha256', secret).update(`${t}.${body}`).digest('hex')}` };
  };

  return {
    notify(record) {
      if (closing.signal.aborted) return;
      if (waiting >= MOST_WAITING) {
        logger.warn('a webhook is dropped: too many wait already', { host, approval: record.id });
        return;
      }
      waiting += 1;
      const body = JSON.stringify(webhookBody(record, page));
      last = last
        .then(() => send(body, newId('whk', clock.now())))
        .finally(() => {
          waiting -= 1;
        });
    },
    async close() {
      const stop = setTimeout(() => closing.abort(), CLOSE_MS);
      await last;
      clearTimeout(stop);
      closing.abort();
    },
  };
}
