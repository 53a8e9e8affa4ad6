import { expect, it } from 'vitest';
import { makeWorld } from '../network/testing.ts';
import { createReachGuard, isPlace, type Place, readPlace } from './reach.ts';
import { createTraffic } from './traffic.ts';

const place = (text: string): Place => {
  const read = readPlace(text);
  if (typeof read === 'string') throw new Error(read);
  return read;
};

it.each([
  ['docs.example', 'docs.example', 443, true],
  ['docs.example', 'DOCS.example.', 80, true],
  ['docs.example', 'docs.example', 8080, false],
  ['docs.example', 'evil-docs.example', 443, false],
  ['docs.example:8080', 'docs.example', 8080, true],
  ['docs.example:8080', 'docs.example', 443, false],
  ['*.docs.example', 'a.b.docs.example', 443, true],
  ['*.docs.example', 'docs.example', 443, false],
  ['localhost:3000', '127.0.0.1', 3000, true],
  ['127.0.0.1:3000', 'localhost', 3000, true],
  ['127.0.0.1:3000', '0x7f.1', 3000, true],
  ['127.0.0.1:3000', '[::1]', 3000, false],
  ['127.0.0.1:3000', 'foo.localhost', 3000, false],
  ['[::1]:3000', '[::1]', 3000, true],
  ['10.0.0.5', '10.0.0.5', 80, true],
])('%s is %s:%i: %s', (text, host, port, same) => {
  expect(isPlace([place(text)], host, port)).toBe(same);
});

it.each(['', '*.', '*.127.0.0.1', 'a b', 'user@host', 'host:0', 'host:99999', 'http://host'])('%j is no place', (text) => {
  expect(readPlace(text)).toBeTypeOf('string');
});

it('an inside context reaches its places and nothing public, an outside one the public and nothing inside; all of it is counted', async () => {
  const world = makeWorld({
    'public.example': ['93.184.216.34'],
    'wiki.corp.example': ['10.1.2.3'],
    'rebound.example': ['93.184.216.34', '127.0.0.1'],
  });
  let places = [place('wiki.corp.example'), place('127.0.0.1:3000')];
  const traffic = createTraffic();
  const none = new AbortController().signal;
  const inside = createReachGuard({ outside: false, places: async () => places }, traffic, world.makeGuard);
  const outside = createReachGuard({ outside: true, places: async () => [] }, traffic, world.makeGuard);
  // In this world nobody answers: what was dialled fails, what was refused was not dialled.
  const dial = async (guard: typeof inside, host: string, port: number): Promise<string> => (await guard.dial(host, port, none)).type;
  expect(await dial(inside, 'wiki.corp.example', 443)).toBe('failed');
  expect(await dial(inside, 'localhost', 3000)).toBe('failed');
  expect(await dial(inside, 'public.example', 443)).toBe('refused');
  expect(await dial(inside, '127.0.0.1', 3001)).toBe('refused');
  // A job that ended takes its port along.
  places = [];
  expect(await dial(inside, '127.0.0.1', 3000)).toBe('refused');
  expect(await dial(outside, 'public.example', 443)).toBe('failed');
  for (const host of ['wiki.corp.example', 'rebound.example', '127.0.0.1', '169.254.169.254', 'localhost', 'a%00b', '[::ffff:10.0.0.1]']) {
    expect([host, await dial(outside, host, 443)]).toEqual([host, 'refused']);
  }
  expect(world.dialled).toEqual(['wiki.corp.example:443', '127.0.0.1:3000', 'public.example:443']);
  const { contacts } = traffic.take();
  expect(contacts.find(({ host }) => host === 'rebound.example')).toMatchObject({
    refused: 1,
    reason: expect.stringContaining('127.0.0.1'),
  });
  expect(traffic.take()).toEqual({ contacts: [], omitted: 0 });
});

it('counts the hosts that it has no room for', () => {
  const traffic = createTraffic();
  for (let index = 0; index < 150; index++) traffic.note(`h${index}.example`, 80, { type: 'refused', reason: 'no' });
  const { contacts, omitted } = traffic.take();
  expect([contacts.length, omitted]).toEqual([100, 50]);
});
