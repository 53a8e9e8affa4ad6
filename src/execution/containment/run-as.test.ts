import { expect, it } from 'vitest';
import { parsePasswd, userName } from './accounts.ts';
import { runAs } from './run-as.ts';

const root = { uid: 0, gid: 0 };

it.each([
  [
    'an ordinary user stays, whoever owns the workspace',
    { self: { uid: 1000, gid: 1000 }, workspace: root },
    { uid: 1000, gid: 1000, drop: false, inside: 1000, state: 'enforced' },
  ],
  [
    'root becomes the owner',
    { self: root, workspace: { uid: 1001, gid: 1002 } },
    { uid: 1001, gid: 1002, drop: true, inside: 1001, state: 'enforced' },
  ],
  [
    'with the primary group of that account',
    { self: root, workspace: { uid: 1001, gid: 50 }, passwd_gid: 1001 },
    { uid: 1001, gid: 1001, drop: true, inside: 1001, state: 'enforced' },
  ],
  [
    'and never with the group of root',
    { self: root, workspace: { uid: 1001, gid: 0 } },
    { uid: 1001, gid: 1001, drop: true, inside: 1001, state: 'enforced' },
  ],
  [
    'a workspace of root is shown as an ordinary user’s, and said to be',
    { self: root, workspace: root },
    { uid: 0, gid: 0, drop: false, inside: 1000, state: 'not_enforced' },
  ],
])('%s', (_, facts, wanted) => {
  const { uid, gid, drop, inside, report } = runAs(facts);
  expect({ uid, gid, drop, inside: inside.uid, state: report.state }).toEqual(wanted);
  expect(report.state === 'enforced' || report.reason).toBeTruthy();
});

it('reads accounts and takes no line that could be something else', () => {
  const accounts = parsePasswd(
    'root:x:0:0::/root:/bin/sh\n+::::::\nbad name:x:5:5::/:\nx:x:-1:1::/:\ndev:x:1000:1000:Dev:/home/dev:/bin/bash',
  );
  expect(accounts.map(({ name }) => name)).toEqual(['root', 'dev']);
  expect(userName(1000, accounts, 'other')).toBe('dev');
  expect(userName(5, accounts, 'other')).toBe('other');
  expect(userName(5, accounts, 'root')).toBe('user');
  expect(userName(5, accounts, 'a:b\nroot')).toBe('user');
});
