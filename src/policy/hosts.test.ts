import { expect, it } from 'vitest';
import { networkOf } from './hosts.ts';
import type { Text } from './text.ts';

it.each([
  ['https://example.com/x', ['example.com']],
  ['https://example.com:443/x', ['example.com']],
  ['http://example.com:8080/x', ['example.com:8080']],
  ['example.com:8080/x', ['example.com:8080']],
  ['example.com:9000', ['example.com:9000']],
  ['http://[2001:db8::1]:8080/', ['[2001:db8::1]:8080']],
  ['http://[2001:db8::1]/', ['2001:db8::1']],
  ['git@example.com:org/repo.git', ['example.com']],
  ['ssh://git@example.com:2222/repo.git', ['example.com:2222']],
  ['host:path/file', ['host']],
  ['http://localhost:8080/', []],
])('%s names %j', (word, hosts) => expect(networkOf([word as Text]).hosts).toEqual(hosts));
