import { expect, it } from 'vitest';
import type { RecordedEvent, VerifyReport } from '../audit/index.ts';
import { renderAuditList, renderAuditRecord, renderVerify } from './audit.ts';

const event: RecordedEvent = {
  ref: { chain: 'chn_01m8pj46yvhmwky448wch8', seq: 12 },
  hash: 'ab'.repeat(32),
  type: 'action.decided',
  at: Date.UTC(2026, 10, 30, 15, 4, 5, 6),
  organization: 'org',
  agent: 'stdio',
  action: 'act_01m8pj46yvhmwky448wch8',
  tool: 'shell',
  data: { verdict: 'contained', name: 'a\u001b[2Jb\u202ec\ud800' },
};

it('lists an event in a line and says how to go on', () => {
  expect(renderAuditList({ events: [event], next_cursor: '1.x.2' })).toBe(
    [
      '2026-11-30T15:04:05.006Z  action.decided        shell           stdio               contained                                 act_01m8pj46yvhmwky448wch8',
      'There are older ones: add --cursor 1.x.2',
    ].join('\n'),
  );
  expect(renderAuditList({ events: [] })).toBe('Nothing is recorded that matches.');
  expect(renderAuditList({ events: [], archived: { archives: 1, rows: 7, newest_at: event.at } })).toBe(
    'Nothing is recorded that matches.\n7 older events up to 2026-11-30T15:04:05.006Z left the list for 1 archive (audit/archive in the Writ home): zcat shows them, `writ audit show` finds them.',
  );
});

it('shows a record whole, and nothing of it acts on the terminal', () => {
  const text = renderAuditRecord({ events: [event, event], unread: ['000001.jsonl.gz'] });
  expect(text).toMatch(/There may be more in 1 archive that can't be read: 000001.jsonl.gz\.$/);
  expect(text).toContain('  reference:    chn_01m8pj46yvhmwky448wch8:12\n');
  // JSON spells the escape itself; the direction mark is spelled here.
  expect(text).toContain('"name": "a\\u001b[2Jb\\u{202e}c\\ud800"');
  expect(renderAuditList({ events: [{ ...event, tool: 'x\u001b[2J\u2028' }] })).toContain('x\\u{1b}[2J\\u{…');
  expect(text).toMatch(/^[\n\x20-\x7e]*$/);
});

it('puts the first bad row on top and never leaves out the limits', () => {
  const report: VerifyReport = {
    ok: false,
    rows: 3,
    chains: 1,
    checkpoints: 1,
    sealed: 2,
    unsealed: 1,
    archives: { total: 3, rows: 2, checked: 2, moved_away: { total: 1, rows: 1, files: ['000000.jsonl.gz'] } },
    findings: [{ kind: 'row_changed', message: 'Row 2 is bad.' }],
    findings_total: 9,
    cannot_prove: ['Everything.'],
  };
  expect(renderVerify(report)).toBe(
    [
      'The record is NOT whole: 9 problems.',
      '  3 rows in 1 chain, 1 checkpoint; 2 sealed, 1 not sealed yet',
      '  2 rows of these in 3 archives: 2 checked, 1 moved away',
      'First: Row 2 is bad.',
      '       and 8 more',
      'What this does not prove:',
      '  - Everything.',
    ].join('\n'),
  );
});
