import { expect, test } from 'vitest';
import { containmentHint } from './containment-hint.ts';

const stdio = { type: 'stdio', command: 'node', args: [], env: {} } as const;

test.each([
  [stdio, 'none', "EROFS: read-only file system, open '/x/memory.jsonl'", 'private HOME'],
  [stdio, 'full', "[Errno 30] Read-only file system: 'data.db'", 'private HOME'],
  [stdio, 'none', 'getaddrinfo EAI_AGAIN api.example.com', 'has no network'],
  [stdio, { hosts: ['a.example'], presets: [] }, 'connect ENETUNREACH 10.0.0.1:443', 'reaches only the hosts'],
  [stdio, 'full', 'getaddrinfo ENOTFOUND api.example.com', undefined],
  [stdio, 'none', 'no such user', undefined],
  [
    stdio,
    'full',
    "ENOENT: no such file or directory, open '/home/ann/notes/memory.jsonl.1.tmp'",
    '"/home/ann/notes/memory.jsonl.1.tmp" is in none',
  ],
  [stdio, 'full', "FileNotFoundError: [Errno 2] No such file or directory: '/home/ann/db.sqlite'", '"/home/ann/db.sqlite" is in none'],
  [stdio, 'full', "ENOENT: no such file or directory, open '/home/ann/shop/none'", undefined],
  [stdio, 'full', "ENOENT: no such file or directory, open '/tmp/none'", undefined],
  [stdio, 'full', "ENOENT: no such file or directory, open 'none'", undefined],
  [{ type: 'http', url: 'https://a.example/mcp', headers: {} }, 'none', 'EROFS: read-only file system', undefined],
] as const)('%j %j: %s', (transport, network, error, says) => {
  const hint = containmentHint({ name: 'mem', transport, network, roots: [{ path: '/home/ann/shop', access: 'read' }] }, error);
  if (says === undefined) expect(hint).toBeUndefined();
  else expect(hint).toContain(says);
});
