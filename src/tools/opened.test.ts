import { describe, expect, it } from 'vitest';
import type { Decision, Finding, Opening } from '../policy/types.ts';
import { openedBy, withoutAbsent } from './opened.ts';

const decision = (opens: readonly Opening[], findings: readonly Partial<Finding>[] = []): Decision => ({
  verdict: 'prompt',
  effects: [],
  findings: findings.map((finding) => ({ effect: 'system_write', span: [0, 0], argv: [], reason: '', ...finding })),
  opens,
  git_config_write: false,
});
const file: Opening = { type: 'path', path: '/srv/app', access: 'write' };

describe('what a decision opens', () => {
  it('is nothing where it opens nothing', () => {
    expect(openedBy(decision([]))).toEqual({ openings: [] });
    expect(openedBy(decision([{ type: 'hosts', hosts: [], presets: [] }]))).toEqual({ openings: [] });
  });

  it('is each host and preset once, and each path', () => {
    const opens: readonly Opening[] = [
      { type: 'hosts', hosts: ['a.example', 'b.example:8080'], presets: ['npm'] },
      { type: 'hosts', hosts: ['a.example'], presets: ['npm', 'pypi'] },
      file,
      { type: 'path', path: '/etc/motd', access: 'read' },
    ];
    expect(openedBy(decision(opens))).toEqual({
      openings: [
        { path: '/srv/app', access: 'write', make: 'file' },
        { path: '/etc/motd', access: 'read', make: 'file' },
      ],
      network: { hosts: ['a.example', 'b.example:8080'], presets: ['npm', 'pypi'] },
    });
  });

  it.each([
    [['mkdir', '-p', '/srv/app'], 'folder'],
    [['/usr/bin/git', 'clone', 'https://a.example/x', '/srv/app'], 'folder'],
    [['git', 'log', '--output=/srv/app'], 'file'],
    [['tee', '/srv/app'], 'file'],
    [['mkdirs', '/srv/app'], 'file'],
  ])('%j makes a %s', (argv, make) => {
    expect(openedBy(decision([file], [{ argv, opens: file }])).openings).toEqual([{ path: '/srv/app', access: 'write', make }]);
  });

  it('without containment is everything, and nothing beside it', () => {
    expect(openedBy(decision([file, { type: 'uncontained', why: 'sudo' }]))).toEqual({ openings: [], uncontained: true });
  });

  it('leaves out what is not there to be read', () => {
    const openings = (['read', 'write'] as const).flatMap((access) =>
      ['/nowhere/x', '/etc/passwd/x', '/etc'].map((path) => ({ path, access })),
    );
    expect(withoutAbsent({ openings }).openings).toEqual(openings.slice(2));
  });
});
