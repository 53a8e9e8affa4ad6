import { describe, expect, it } from 'vitest';
import { type AssessContext, assessCommand, assessPaths, decide } from './index.ts';
import type { PolicyConfig } from './types.ts';

const links: Readonly<Record<string, string>> = { '/home/dev/app/plain': '/home/dev/app/.env', '/home/dev/app/out': '/srv/data' };
const context: AssessContext = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  readable: ['/home/dev/lib'],
  facts: { realpath: (path) => links[path] ?? path.replace(/\/\.\//g, '/'), which: () => undefined },
};
const NONE: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };
const read = (path: string, policy = NONE) => decide(assessPaths('read_file', [{ access: 'read', path }], context), policy);
const write = (path: string, policy = NONE) => decide(assessPaths('write_file', [{ access: 'write', path }], context), policy);

describe('a file tool', () => {
  const PATHS = [
    'src/a.ts',
    '.env',
    'plain',
    'out',
    '/etc/shadow',
    '/etc/hostname',
    '~',
    '/home/dev/.ssh/id_rsa',
    '/home/dev/notes',
    '/home/dev/lib/x',
    '.git/hooks/pre-commit',
    '.claude/settings.json',
    '/tmp/x',
    '/usr/bin/x',
    '/dev/sda',
    '/home/dev/.cache/x',
    '/home/dev/.bashrc',
    'a b$(x)*',
  ];

  it.each(PATHS)('judges %s as a redirection of the shell does', (path) => {
    const shape = (one: ReturnType<typeof decide>) => ({ verdict: one.verdict, effects: one.effects, opens: one.opens });
    expect(shape(read(path))).toEqual(shape(decide(assessCommand(`: < '${path}'`, context), NONE)));
    expect(shape(write(path))).toEqual(shape(decide(assessCommand(`: > '${path}'`, context), NONE)));
  });

  it('a rule names the tool and the real path, and opens it', () => {
    const policy: PolicyConfig = { ...NONE, allow: [{ argv: ['read_file', '/home/dev/app/.env'] }] };
    for (const path of ['.env', 'plain', '/home/dev/app/.env']) {
      expect(read(path, policy)).toMatchObject({ verdict: 'allow', opens: [{ path: '/home/dev/app/.env', access: 'read' }] });
    }
    expect(read('secrets.yml', policy).verdict).toBe('prompt');
    expect(write('.git/config', { ...NONE, allow: [{ argv: ['read_file', '**'] }] }).verdict).toBe('prompt');
    expect(read('src/a.ts', { ...NONE, deny: [{ argv: ['read_file', '/home/dev/app/src/a.ts'] }] }).verdict).toBe('deny');
  });

  it('marks of our own in a path are unknown, and match no rule', () => {
    const policy: PolicyConfig = { ...NONE, allow: [{ argv: ['read_file', '**'] }] };
    expect(read('/home/dev/app/\uFDD0', { ...policy, deny: [{ argv: ['read_file', '/x'] }] }).verdict).toBe('deny');
  });
});
