import { expect, test } from 'vitest';
import type { ApprovalRecord } from '../../approvals/types.ts';
import { readAnswer } from './answer-form.ts';
import { foreignHost, foreignOrigin, foreignVisit } from './same-origin.ts';
import { createOperatorSessions, SESSION_MS } from './sessions.ts';

const hosts = { type: 'hosts', hosts: ['a.example', 'b.example'], presets: ['npm'] } as const;
const path = { type: 'path', path: '/x', access: 'write' } as const;
const bare = { type: 'uncontained', why: 'sudo' } as const;
const host = { type: 'host', host: 'a.example' } as const;

function read(fields: Record<string, string>, opens: ApprovalRecord['card']['opens'] = [hosts, path]): unknown {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return readAnswer(form, { card: { opens, grants: [host] } } as unknown as ApprovalRecord);
}
const all = { 'open.0': 'a.example b.example', 'open.0.preset': 'npm', 'open.1': 'keep' };

test('what is left as it was is all of it; what was left out is left out', () => {
  expect(read({ decision: 'approve', ...all })).toEqual({ reply: { decision: 'approve' } });
  expect(read({ decision: 'approve', ...all, 'open.0': ' a.example, c.example ' })).toEqual({
    reply: { decision: 'approve', opens: [{ type: 'hosts', hosts: ['a.example', 'c.example'], presets: ['npm'] }, path] },
  });
  expect(read({ decision: 'approve' })).toEqual({ reply: { decision: 'approve', opens: [] } });
  expect(read({ decision: 'approve', 'open.0.preset': 'evil', 'open.0': '', 'open.1': 'keep' })).toEqual({
    reply: { decision: 'approve', opens: [path] },
  });
});

test('a no needs nothing else; a yes may need a word, a box, one of the choices', () => {
  expect(read({ decision: 'deny', note: '  no  ', word: 'x' })).toEqual({ reply: { decision: 'deny', note: 'no' } });
  expect(read({ decision: 'approve', ...all, word: ' yes ' })).toEqual({ reply: { decision: 'approve', word: 'yes' } });
  expect(read({ decision: 'approve' }, [bare])).toHaveProperty('problem');
  expect(read({ decision: 'approve', uncontained: 'keep' }, [bare, { ...bare, why: 'docker' }])).toEqual({
    reply: { decision: 'approve' },
  });
  expect(read({ decision: 'deny' }, [bare])).toEqual({ reply: { decision: 'deny' } });
  expect(read({ decision: 'remember', ...all, grant: '0', hours: '8' })).toEqual({
    reply: { decision: 'approve' },
    remember: { scope: host, ttl_ms: 8 * 3_600_000 },
  });
  for (const fields of [
    {},
    { decision: 'yes' },
    { decision: 'remember', ...all },
    { decision: 'remember', ...all, grant: '1', hours: '8' },
    { decision: 'remember', ...all, grant: '0', hours: '9999' },
  ]) {
    expect(read(fields as Record<string, string>)).toHaveProperty('problem');
  }
});

test('only this very origin acts; names that are not ours are nobody', () => {
  const own = { hosts: ['127.0.0.1', '[::1]'], public_origin: 'https://writ.example' };
  const from = (host: string, origin?: string, site?: string): string | undefined => foreignOrigin({ host, origin, site }, own);
  expect(from('127.0.0.1:1', 'http://127.0.0.1:1')).toBeUndefined();
  expect(from('127.0.0.1:1', undefined, 'same-origin')).toBeUndefined();
  expect(from('writ.example', 'https://writ.example', 'same-origin')).toBeUndefined();
  expect(from('127.0.0.1:1')).toBeDefined();
  expect(from('127.0.0.1:1', 'http://127.0.0.1:2')).toBeDefined();
  expect(from('127.0.0.1:1', 'http://127.0.0.1:1', 'same-site')).toBeDefined();
  expect(foreignHost({ host: '127.0.0.1:9' }, own)).toBeUndefined();
  expect(foreignHost({ host: '[::1]:9' }, own)).toBeUndefined();
  for (const host of [undefined, '', '127.0.0.1.evil.example', 'evil.example:7420', '[::1].evil', '0.0.0.0:1']) {
    expect(foreignHost({ host }, own)).toBeDefined();
  }
  expect(foreignVisit({ site: 'cross-site' }, 'navigate')).toBeUndefined();
  expect(foreignVisit({ site: 'cross-site' }, 'cors')).toBeDefined();
});

test('a session ends by itself, and the oldest makes room', () => {
  let now = 0;
  const sessions = createOperatorSessions({ now: () => now });
  const { session, secret } = sessions.begin();
  const other = sessions.begin();
  expect(sessions.find(session.id, secret)).toBe(session);
  for (const wrong of [undefined, '', other.secret, `${secret}x`]) expect(sessions.find(session.id, wrong)).toBeUndefined();
  now = SESSION_MS;
  expect(sessions.find(session.id, secret)).toBeUndefined();
  const first = sessions.begin();
  for (let more = 0; more < 50; more++) sessions.begin();
  expect(sessions.find(first.session.id, first.secret)).toBeUndefined();
});
