import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { resolve } from 'node:path';
import fc from 'fast-check';
import { Agent, fetch } from 'undici';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { createConnector, createGuard, type GuardOptions, readOutwardUrl } from '../index.ts';
import { canonicalAddress, notPublic } from './address-ranges.ts';

interface Case {
  readonly id: string;
  readonly url: string;
  readonly resolves_to?: readonly string[];
  readonly redirects_to?: readonly string[];
  readonly expect: 'allow' | 'block';
  readonly retired?: string;
}
const cases = readFileSync(resolve(import.meta.dirname, '../../../test/corpora/addresses.jsonl'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as Case)
  .filter((one) => one.retired === undefined);

const never = new AbortController().signal;

/** What whoever follows redirects does at each hop. */
async function decide(url: string, options: GuardOptions, base?: URL): Promise<'allow' | 'block'> {
  const read = readOutwardUrl(url, base);
  if (!read.ok) return 'block';
  const { hostname } = read.url;
  return (await createGuard(options).check(hostname, read.port)).ok ? 'allow' : 'block';
}

test.each(cases.map((one) => [one.id, one] as const))('%s', async (_id, one) => {
  let answered: readonly string[] | undefined = one.resolves_to;
  const options: GuardOptions = {
    resolve: async (name) => {
      if (answered === undefined) throw new Error(`${name} was looked up`);
      return answered;
    },
  };
  let verdict = await decide(one.url, options);
  answered = ['93.184.216.34'];
  for (const next of one.redirects_to ?? []) if (verdict === 'allow') verdict = await decide(next, options, new URL(one.url));
  expect(verdict).toBe(one.expect);
});

describe('addresses', () => {
  it.each([
    ['64:ff9b::8.8.8.8', undefined],
    ['64:ff9b:1::8.8.8.8', 'a reserved address'],
    ['::8.8.8.8', 'a reserved address'],
    ['168.63.129.16', 'a cloud metadata address'],
    ['2001:0:1::1', 'a reserved address'],
    ['4000::1', 'a reserved address'],
    ['fe80::1%eth0', 'not an address'],
    ['1.2.3', 'not an address'],
  ])('%s: %s', (address, what) => expect(notPublic(address)).toBe(what));

  it('an IPv4 address is judged alike in each of its IPv6 spellings', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const hex = address
          .split('.')
          .map((part) => Number(part).toString(16).padStart(2, '0'))
          .join('');
        for (const mapped of [`::ffff:${address}`, `::FFFF:${hex.slice(0, 4)}:${hex.slice(4)}`, `64:ff9b::${address}`])
          expect(notPublic(mapped)).toBe(notPublic(address));
        expect(canonicalAddress(`::ffff:${address}`)).toBe(address);
        expect(canonicalAddress(`64:ff9b::${address}`)).not.toBe(address);
      }),
    );
  });
});

describe('dialling', () => {
  let server: Server;
  let port: number;
  beforeAll(async () => {
    server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nhi');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    port = (server.address() as { port: number }).port;
  });
  afterAll(() => void server.close());

  it('refuses loopback unless exactly this port of it was opened', async () => {
    for (const allow of [[], [{ host: '127.0.0.1', port: port + 1 }], [{ host: '127.0.0.2' }]])
      expect(await createGuard({ allow }).dial('127.0.0.1', port, never)).toMatchObject({ type: 'refused' });
    const dialled = await createGuard({ allow: [{ host: '127.1', port }] }).dial('0x7f.1', port, never);
    expect(dialled).toMatchObject({ type: 'connected', address: '127.0.0.1' });
    if (dialled.type === 'connected') dialled.socket.destroy();
  });

  it('looks a name up once and connects to what it checked', async () => {
    const asked: string[] = [];
    // A second question would get another answer.
    const resolveOnce = async (name: string): Promise<readonly string[]> => (asked.push(name) === 1 ? ['127.0.0.1'] : ['10.0.0.1']);
    const guard = createGuard({ resolve: resolveOnce, allow: [{ host: '127.0.0.1', port }] });
    const dialled = await guard.dial('Rebind.Example.com.', port, never);
    expect(dialled).toMatchObject({ type: 'connected', address: '127.0.0.1' });
    expect(asked).toEqual(['rebind.example.com']);
    if (dialled.type === 'connected') dialled.socket.destroy();
    expect(await guard.dial('rebind.example.com', port, never)).toMatchObject({ type: 'refused' });
  });

  it('tells a name without an address from one that must not be dialled', async () => {
    const guard = createGuard({ resolve: () => Promise.reject(new Error('ENOTFOUND')) });
    expect(await guard.check('none.example.com')).toMatchObject({ ok: false, cause: 'unknown' });
    expect(await guard.dial('none.example.com', 80, never)).toMatchObject({ type: 'failed' });
    expect(await guard.check('printer.local')).toMatchObject({ ok: false, cause: 'policy' });
    expect(await guard.dial('8.8.8.8', 0, never)).toMatchObject({ type: 'refused' });
  });

  it('gives up when asked to, and when nobody listens', async () => {
    const open = createGuard({ allow: [{ host: '127.0.0.1' }] });
    expect(await open.dial('127.0.0.1', port, AbortSignal.abort())).toEqual({ type: 'failed', reason: 'given up' });
    expect(await open.dial('127.0.0.1', 1, never)).toEqual({ type: 'failed', reason: 'no connection: ECONNREFUSED' });
  });

  it('is what undici dials with, for names and for literals', async () => {
    const guard = createGuard({ resolve: async () => ['127.0.0.1'], allow: [{ host: 'app.example.com', port }] });
    const dispatcher = new Agent({ connect: createConnector(guard, never) });
    const answer = await fetch(`http://app.example.com:${port}/`, { dispatcher });
    expect(await answer.text()).toBe('hi');
    for (const url of [`http://127.0.0.1:${port}/`, `http://[::ffff:127.0.0.1]:${port}/`, `http://other.example.com:${port}/`])
      await expect(fetch(url, { dispatcher })).rejects.toMatchObject({ cause: { code: 'denied_by_policy' } });
    await dispatcher.close();
  });
});
