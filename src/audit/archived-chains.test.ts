import { expect, it } from 'vitest';
import type { ArchiveBody } from './archive-head.ts';
import { replayArchives } from './archived-chains.ts';
import { createFindings } from './findings.ts';

const zeros = '0'.repeat(64);
const after = 'ab'.repeat(32);
const body: ArchiveBody = {
  v: 1,
  seq: 0,
  prev: null,
  organization: 'org',
  at: 1,
  key: 'k',
  file: '000000.jsonl.gz',
  bytes: 1,
  sha256: zeros,
  rows: 5,
  oldest_at: 1,
  newest_at: 2,
  chains: { chn_a: { first: 0, last: 4, before: zeros, after } },
};

it.each([
  ['no row', undefined, 1],
  ['fewer rows', { hashes: new Map([[3, after]]), last: 3 }, 1],
  ['another last row', { hashes: new Map([[4, zeros]]), last: 4 }, 1],
  ['all of them', { hashes: new Map([[4, after]]), last: 4 }, 0],
  ['all and more', { hashes: new Map([[9, zeros]]), last: 9 }, 0],
])('archived rows of which checkpoints cover %s', (_name, sealed, total) => {
  const findings = createFindings();
  const heads = new Map(sealed === undefined ? [] : [['chn_a', sealed]]);
  const ends = replayArchives([{ body, line: '' }], { heads, known: new Set() }, undefined, findings);
  expect(findings.list.map(({ kind }) => kind)).toEqual(total === 0 ? [] : ['archive_changed']);
  expect(ends.get('chn_a')).toEqual({ organization: 'org', seq: 4, hash: Buffer.from(after, 'hex') });
});
