import { expect, test } from 'vitest';
import { createOffers } from './offers.ts';
import type { Upstream } from './upstream.ts';

const upstream = (name: string, offers: Partial<Record<'resources' | 'templates' | 'prompts', object[]>>): Upstream =>
  ({ settings: { name }, offers: async (kind: 'resources' | 'templates' | 'prompts') => offers[kind] ?? [] }) as unknown as Upstream;

const a = upstream('a', {
  resources: [{ uri: 'file:///x', name: 'x' }, { uri: 'demo://only-a' }, { name: 'no address' }],
  templates: [{ uriTemplate: 'demo://text/{id}' }, { uriTemplate: 'both://{x}' }],
  prompts: [{ name: 'greet', description: 'Hello' }],
});
const b = upstream('b', {
  resources: [{ uri: 'file:///x' }],
  templates: [{ uriTemplate: 'both://{y}/end' }],
  prompts: [{ name: 'greet' }],
});

test('one list: an address that two servers have is kept by the first, and that of the other says whose it is', async () => {
  const offers = createOffers([a, b]);
  expect((await offers.resources()).map(({ server, definition }) => [server, definition['uri']])).toEqual([
    ['a', 'file:///x'],
    ['a', 'demo://only-a'],
    ['b', 'writ://upstream/b/file%3A%2F%2F%2Fx'],
  ]);
  expect((await offers.prompts()).map(({ definition }) => definition)).toEqual([
    { name: 'a__greet', description: 'Hello' },
    { name: 'b__greet' },
  ]);
  expect(await offers.promptOwner('b__greet')).toEqual({ type: 'owner', server: 'b', own: 'greet' });
});

test.each([
  ['demo://only-a', { type: 'owner', server: 'a', own: 'demo://only-a' }],
  ['file:///x', { type: 'ambiguous', servers: ['a', 'b'] }],
  ['writ://upstream/b/file%3A%2F%2F%2Fx', { type: 'owner', server: 'b', own: 'file:///x' }],
  ['writ://upstream/nobody/file', undefined],
  ['writ://upstream/b/%E0%A4%A', undefined],
  ['demo://text/7', { type: 'owner', server: 'a', own: 'demo://text/7' }],
  ['both://1/end', { type: 'ambiguous', servers: ['a', 'b'] }],
  ['both://1', { type: 'owner', server: 'a', own: 'both://1' }],
  ['other://1', undefined],
])('%s', async (uri, owner) => {
  expect(await createOffers([a, b]).ownerOf(uri)).toEqual(owner);
});

test('what came in a result can be read from whoever it came from; where it is somebody else’s too, its link says whose it is', async () => {
  const offers = createOffers([a, b]);
  const blocks = [
    { type: 'text', text: 'see' },
    { type: 'resource_link', uri: 'session://1', name: 'n' },
    { type: 'resource_link', uri: 'file:///x' },
    { type: 'resource', resource: { uri: 'file:///x', text: 't' } },
    { type: 'resource' },
  ];
  expect(await offers.adopt('b', blocks)).toEqual([
    blocks[0],
    blocks[1],
    { type: 'resource_link', uri: 'writ://upstream/b/file%3A%2F%2F%2Fx' },
    { type: 'resource', resource: { uri: 'writ://upstream/b/file%3A%2F%2F%2Fx', text: 't' } },
    blocks[4],
  ]);
  expect(await offers.ownerOf('session://1')).toEqual({ type: 'owner', server: 'b', own: 'session://1' });
});
