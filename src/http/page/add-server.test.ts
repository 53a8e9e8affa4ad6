import { expect, test } from 'vitest';
import { readAddServer } from './add-server.ts';

const read = (typed: Record<string, string>): unknown => readAddServer({ connect: 'yes', ...typed });
const more = { connect: true, replace: false };

test.each<[Record<string, string>, unknown]>([
  [
    { name: ' x ', command: 'node', args: 'a b\r\n\r\n-c\n', roots: '/a\n/b:write\n', network: 'none', env: 'A=1=2\n B = c ' },
    {
      name: 'x',
      entry: {
        command: 'node',
        args: ['a b', '-c'],
        roots: ['/a', { path: '/b', access: 'write' }],
        network: 'none',
        env: { A: '1=2', B: 'c' },
      },
      ...more,
    },
  ],
  [
    { name: 'x', url: 'https://a.example', headers: 'X-A: b: c', network: 'npm, a.example', connect: 'no' },
    { name: 'x', entry: { url: 'https://a.example', headers: { 'X-A': 'b: c' }, network: ['npm', 'a.example'] }, ...more, connect: false },
  ],
  [{ entry: '{"mcpServers":{"y":{"command":"z"}}}' }, { name: 'y', entry: { command: 'z' }, ...more }],
  [
    { name: 'x', entry: '{"y":{"command":"z"}}' },
    { name: 'x', entry: { command: 'z' }, ...more },
  ],
  [
    { name: 'x', entry: '{"url":"https://a.example"}' },
    { name: 'x', entry: { url: 'https://a.example' }, ...more },
  ],
  [{}, { name: '', entry: {}, ...more }],
])('%j', (typed, wanted) => expect(read(typed)).toEqual(wanted));

test.each<Record<string, string>>([
  { name: 'x', command: 'node', env: 'A' },
  { name: 'x', url: 'https://a.example', headers: ': b' },
  { name: 'x', command: 'node', entry: '{"command":"z"}' },
  { name: 'x', entry: '{' },
  { name: 'x', entry: '[]' },
  { name: 'x', entry: '{"mcpServers":{}}' },
  { name: 'x', entry: '{"mcpServers":{"a":{"command":"z"},"b":{"command":"z"}}}' },
  { name: 'x', entry: '{"mcpServers":[1]}' },
  { name: 'x', entry: '{"a":1}' },
])('%j is not taken', (typed) => expect(read(typed)).toHaveProperty('problem'));
