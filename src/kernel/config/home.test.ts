import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ensureHome, readProcess, shellWord } from './index.ts';

const { uid, is_root } = readProcess();
let base = '';
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'writ-home-')));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const asked = (path: string) =>
  ensureHome({ uid, user: { name: 'dev', home: base, shell: undefined }, writ_home: { path, from: 'WRIT_HOME' } });
const refusal = (path: string): string => {
  const ensured = asked(path);
  if (ensured.ok) throw new Error('accepted');
  expect(ensured.fix).not.toBe('');
  return ensured.message;
};

describe('the Writ home', () => {
  test('is made closed, with its parents, whatever the umask', () => {
    const before = process.umask(0o002);
    try {
      const home = join(base, 'a/b/writ');
      expect(asked(home)).toEqual({ ok: true, home, warnings: [] });
      expect(statSync(home).mode & 0o777).toBe(0o700);
      expect(asked(home)).toEqual({ ok: true, home, warnings: [] });
    } finally {
      process.umask(before);
    }
  });

  test('that others can read is closed, and said', () => {
    const home = join(base, 'writ');
    mkdirSync(home, { mode: 0o755 });
    chmodSync(home, 0o755);
    expect(asked(home)).toMatchObject({ ok: true, warnings: [expect.stringContaining('0755')] });
    expect(statSync(home).mode & 0o777).toBe(0o700);
  });

  test.each([0o777, 0o770, 0o702])('that others can write (%o) is refused and left as it is', (mode) => {
    const home = join(base, 'writ');
    mkdirSync(home);
    chmodSync(home, mode);
    expect(refusal(home)).toMatch(/can be written by other users/);
    expect(lstatSync(home).mode & 0o777).toBe(mode);
  });

  test('that is a link, a file, relative, the home itself or the root is refused', () => {
    mkdirSync(join(base, 'real'), { mode: 0o700 });
    symlinkSync(join(base, 'real'), join(base, 'link'));
    symlinkSync('/nowhere', join(base, 'dangling'));
    writeFileSync(join(base, 'file'), '');
    expect(refusal(join(base, 'link'))).toMatch(/symbolic link/);
    expect(refusal(join(base, 'dangling'))).toMatch(/symbolic link/);
    expect(refusal(join(base, 'file'))).toMatch(/not a folder|can't be made/);
    expect(refusal(join(base, 'file', 'below'))).toMatch(/can't be made/);
    expect(refusal('relative/writ')).toMatch(/absolute/);
    expect(refusal('~/.writ')).toMatch(/absolute/);
    expect(refusal(base)).toMatch(/itself/);
    expect(refusal('/')).toMatch(/itself/);
    expect(readdirSync(join(base, 'real'))).toEqual([]);
  });

  test('may be reached through a link further up; the real path is the answer', () => {
    mkdirSync(join(base, 'disk'));
    symlinkSync(join(base, 'disk'), join(base, 'via'));
    expect(asked(join(base, 'via/writ'))).toMatchObject({ ok: true, home: join(base, 'disk/writ') });
  });

  test('in a folder where everybody may rename it is refused', () => {
    const open = join(base, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    expect(refusal(join(open, 'writ'))).toMatch(/can be written by everybody/);
    chmodSync(open, 0o1777);
    expect(asked(join(open, 'writ')).ok).toBe(true);
  });

  test.runIf(is_root)('of another user is refused', () => {
    const home = join(base, 'writ');
    mkdirSync(home, { mode: 0o700 });
    chownSync(home, 65534, 65534);
    expect(refusal(home)).toMatch(/belongs to uid 65534/);
  });

  test('is not made up for a user without a home folder', () => {
    const nobody = { uid, user: { name: 'nobody', home: undefined, shell: undefined } };
    expect(ensureHome({ ...nobody, writ_home: { path: undefined, from: 'passwd' } })).toMatchObject({
      ok: false,
      fix: expect.stringContaining('WRIT_HOME'),
    });
    const missing = ensureHome({
      uid,
      user: { name: 'x', home: join(base, 'gone'), shell: undefined },
      writ_home: { path: join(base, 'gone/.writ'), from: 'passwd' },
    });
    expect(missing).toMatchObject({ ok: false, message: expect.stringContaining('ENOENT') });
  });
});

describe('the facts of the process', () => {
  test('come from the system and not from what the environment says', () => {
    const before = { HOME: process.env['HOME'], USER: process.env['USER'], WRIT_HOME: process.env['WRIT_HOME'] };
    try {
      const honest = readProcess();
      process.env['HOME'] = '/planted';
      process.env['USER'] = 'planted';
      delete process.env['WRIT_HOME'];
      const facts = readProcess();
      expect(facts.user).toEqual(honest.user);
      expect(facts.writ_home).toEqual({
        path: honest.user.home === undefined ? undefined : join(honest.user.home, '.writ'),
        from: 'passwd',
      });
      expect(facts.host_env['HOME']).toBe('/planted');
      process.env['WRIT_HOME'] = '/elsewhere';
      expect(readProcess().writ_home).toEqual({ path: '/elsewhere', from: 'WRIT_HOME' });
      process.env['WRIT_HOME'] = '';
      expect(readProcess().writ_home.from).toBe('passwd');
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  test('hold a copy of the environment in which every name is an ordinary one', () => {
    const { host_env } = readProcess();
    expect(host_env['constructor']).toBeUndefined();
    expect(Object.getPrototypeOf(host_env)).toBeNull();
  });
});

test('a path is one word of a shell line', () => {
  expect(shellWord('/a/b-c_d')).toBe('/a/b-c_d');
  expect(shellWord("/it's here")).toBe("'/it'\\''s here'");
});
