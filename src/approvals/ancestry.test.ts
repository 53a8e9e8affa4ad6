import { describe, expect, test } from 'vitest';
import { selfIdentity } from '../kernel/self-identity.ts';
import { actsFor, askedBySelf, hostsOf, type ProcessFacts, type ReadProcess, readProc } from './ancestry.ts';

const boot_id = selfIdentity().boot_id ?? '';

/** A process tree by lines: pid, parent, program, and whether a person types into it. */
function tree(rows: readonly (readonly [pid: number, ppid: number, exe: string, interactive?: boolean, script?: string])[]): ReadProcess {
  const all = new Map<number, ProcessFacts>(
    rows.map(([pid, ppid, exe, interactive = false, script = '']) => [
      pid,
      { pid, ppid, start: `${pid}0`, exe, interactive, argv: [exe, script] },
    ]),
  );
  return (pid) => all.get(pid);
}

const MACHINE = [
  [1, 0, '/sbin/init'],
  [10, 1, '/usr/bin/terminal'],
  [11, 10, '/bin/bash', true],
  [12, 10, '/bin/bash', true],
] as const;
const pids = (read: ReadProcess, pid: number): number[] => hostsOf(pid, read).map((host) => host.pid);

describe('who acts for the agent', () => {
  test('the host right above, and not the shell the person started it from', () => {
    const read = tree([...MACHINE, [20, 11, '/opt/agent'], [21, 20, '/usr/bin/node']]);
    expect(pids(read, 21)).toEqual([20]);
  });

  test('through what only launches', () => {
    const read = tree([
      ...MACHINE,
      [20, 11, '/opt/agent'],
      [21, 20, '/bin/sh'],
      [22, 21, '/usr/bin/node', false, '/usr/bin/npx'],
      [23, 22, '/bin/sh'],
      [24, 23, '/usr/bin/node'],
    ]);
    expect(pids(read, 24)).toEqual([23, 22, 21, 20]);
  });

  test('the whole of a program of many processes', () => {
    const read = tree([...MACHINE, [20, 10, '/opt/editor'], [21, 20, '/opt/editor'], [22, 21, '/opt/editor'], [30, 22, '/usr/bin/node']]);
    expect(pids(read, 30)).toEqual([22, 21, 20]);
  });

  test('started by a person at their own prompt: nobody', () => {
    expect(pids(tree([...MACHINE, [20, 11, '/usr/bin/node']]), 20)).toEqual([]);
  });
});

describe('who may answer', () => {
  const read = tree([
    ...MACHINE,
    [20, 11, '/opt/agent'],
    [21, 20, '/usr/bin/node'],
    [22, 21, '/usr/bin/bwrap'],
    [30, 20, '/bin/bash', true],
    [31, 30, '/usr/bin/node'],
    [40, 12, '/usr/bin/node'],
    [50, 49, '/usr/bin/node'],
  ]);
  const asked = { boot_id, pid: 21, start: '210', hosts: hostsOf(21, read) };

  test.each([
    ['the asking process', 21, true],
    ['what it started', 22, true],
    ['a terminal that the host opened', 31, true],
    ['the host', 20, true],
    ['another terminal of the person', 40, false],
    ['one whose line of parents breaks off', 50, undefined],
    ['one that is gone', 99, undefined],
  ])('%s: %s acts for the agent: %s', (_, pid, expected) => {
    expect(actsFor(pid, asked, read)).toBe(expected);
  });

  test('a number that was given out again is somebody else', () => {
    expect(actsFor(40, { ...asked, pid: 12, start: 'earlier', hosts: [] }, read)).toBe(false);
    expect(actsFor(40, { ...asked, pid: 12, start: '120', hosts: [] }, read)).toBe(true);
  });

  test('another boot can not be judged', () => {
    expect(actsFor(40, { ...asked, boot_id: 'other' }, read)).toBeUndefined();
  });

  test('from the real /proc: a process acts for itself', () => {
    expect(readProc(process.pid)).toMatchObject({ pid: process.pid, ppid: process.ppid });
    expect(actsFor(process.pid, askedBySelf())).toBe(true);
  });
});

test('what starts everything is nobody’s host: neither a desktop nor a terminal nor a login', () => {
  const desktop = [
    [1, 0, '/sbin/init'],
    [2, 1, '/usr/lib/systemd/systemd'],
    [3, 2, '/usr/bin/gnome-shell'],
    [20, 3, '/opt/editor'],
    [21, 20, '/opt/editor'],
    [30, 3, '/usr/bin/kitty'],
    [31, 30, '/opt/agent'],
    [40, 1, '', false],
    [41, 40, '/opt/agent'],
  ] as const;
  const read = tree(desktop);
  expect([pids(read, 21), pids(read, 20), pids(read, 31)]).toEqual([[20], [], []]);
  // Of another user: its program can't be read, what it calls itself can.
  const login: ReadProcess = (pid) => {
    const facts = read(pid);
    return facts && pid === 40 ? { ...facts, argv: ['sshd: dev [priv]'] } : facts;
  };
  expect(pids(login, 41)).toEqual([]);
});
