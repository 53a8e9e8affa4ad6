import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { cardOf, OWNER } from '../../test/helpers/approvals.ts';
import { systemClock } from '../kernel/clock.ts';
import { type Logger, silentLogger } from '../kernel/logger.ts';
import type { ApprovalRecord } from './types.ts';
import { createWebhook, type Webhook, type WebhookParts } from './webhook.ts';

interface Got {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

let server: Server;
let url: string;
let got: Got[];
let answers: { readonly status: number; readonly location?: string }[];
let warned: string[];
let hook: Webhook | undefined;

beforeEach(async () => {
  got = [];
  answers = [];
  warned = [];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    got.push({ headers: request.headers, body });
    const { status, location } = answers.shift() ?? { status: 200 };
    response.writeHead(status, location === undefined ? {} : { location }).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/SECRETPATH`;
});
afterEach(async () => {
  await hook?.close();
  server.close();
});

const wait = { timeout: 20_000 };
const logger: Logger = { ...silentLogger, warn: (message, data) => void warned.push(`${message} ${JSON.stringify(data)}`) };
const open = (more: Partial<WebhookParts> = {}): Webhook => {
  hook = createWebhook({ url, clock: systemClock, logger, retries: [1, 1], ...more });
  return hook;
};
const record = (more: Partial<ApprovalRecord> = {}): ApprovalRecord => ({
  id: 'apr_1',
  state: 'pending',
  digest: 'd',
  owner: OWNER,
  card: cardOf({ what: 'curl <!channel> & more' }),
  created_at: 1,
  expires_at: 2,
  ...more,
});

test('what is asked and what became of it go out in order, signed over the bytes', async () => {
  const { notify } = open({ secret: 'shh', page: 'https://writ.example' });
  notify(record());
  notify(record({ state: 'denied', note: 'no', decided_by: { channel: 'page', who: 'ann' } }));
  await expect.poll(() => got.length, wait).toBe(2);
  const bodies = got.map(({ body }) => JSON.parse(body) as { type: string; text: string; blocks: object[]; approval: { state: string } });
  expect(bodies.map(({ type, approval }) => [type, approval.state])).toEqual([
    ['approval.requested', 'pending'],
    ['approval.decided', 'denied'],
  ]);
  expect(bodies[0]?.text).toContain('curl &lt;!channel&gt; &amp; more');
  expect(bodies[0]?.blocks).toMatchObject([
    { text: { type: 'plain_text' } },
    { text: { type: 'plain_text' } },
    { text: { type: 'plain_text' } },
  ]);
  for (const { headers, body } of got) {
    const [, t = '', v1] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['writ-signature'])) ?? [];
    expect(v1).toBe(createHmac('sha256', 'shh').update(`${t}.${body}`).digest('hex'));
  }
});

test('a receiver that fails is tried again, and not for ever', async () => {
  answers = [{ status: 500 }, { status: 429 }, { status: 200 }, { status: 503 }, { status: 503 }, { status: 503 }];
  const { notify } = open();
  notify(record());
  await expect.poll(() => got.length, wait).toBe(3);
  notify(record());
  await expect.poll(() => warned.length, wait).toBe(1);
  expect(got).toHaveLength(6);
  expect(warned[0]).toContain('503');
  expect(warned[0]).not.toContain('SECRETPATH');
});

test.each([301, 307, 404])('status %i is final: no redirect is followed', async (status) => {
  answers = [{ status, location: url }];
  open().notify(record());
  await expect.poll(() => warned.length, wait).toBe(1);
  expect(got).toHaveLength(1);
});

test('more than 64 that wait are dropped and said; nobody listening ends too', async () => {
  server.close();
  const { notify } = open({ retries: [] });
  for (let i = 0; i < 66; i++) notify(record());
  expect(warned).toHaveLength(2);
  await hook?.close();
  expect(warned).toHaveLength(66);
});
