import { chmodSync, lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createEtcSnapshot } from './etc-snapshot.ts';
import { withFolder } from './folder-handle.ts';
import { ensurePrivateFolders, privateFolders, writeGenerated } from './private-folders.ts';
import { type RunAs, runAs } from './run-as.ts';
import { type Bed, isRoot, makeBed } from './testing.ts';

let bed: Bed;
let as: RunAs;
beforeEach(() => {
  bed = makeBed();
  const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  as = runAs({ self, workspace: self });
});
afterEach(() => bed.remove());

it('makes folders for the owner alone, again and again', () => {
  const folders = privateFolders(bed.config, bed.workspace, as);
  ensurePrivateFolders(folders, as);
  ensurePrivateFolders(folders, as);
  expect([folders.home, folders.tmp, dirname(folders.home)].map((path) => (statSync(path).mode & 0o7777).toString(8))).toEqual([
    '700',
    '1777',
    '700',
  ]);
  expect(privateFolders(bed.config, `${bed.workspace}2`, as).home).not.toBe(folders.home);
});

it('mends a mode that was changed, and refuses a link in a folder’s place', () => {
  const folders = privateFolders(bed.config, bed.workspace, as);
  ensurePrivateFolders(folders, as);
  chmodSync(folders.home, 0o777);
  ensurePrivateFolders(folders, as);
  expect(statSync(folders.home).mode & 0o777).toBe(0o700);
  rmSync(folders.home, { recursive: true });
  symlinkSync(bed.user_home, folders.home);
  expect(() => ensurePrivateFolders(folders, as)).toThrow(/not a folder/);
});

it.runIf(isRoot)('lies where another user can walk and not look', () => {
  const other = runAs({ self: { uid: 0, gid: 0 }, workspace: { uid: 65534, gid: 65534 } });
  const folders = privateFolders(bed.config, bed.workspace, other);
  ensurePrivateFolders(folders, other);
  expect(folders.home.startsWith(`${bed.base}/shared/65534/`)).toBe(true);
  expect([statSync(folders.home).uid, statSync(folders.tmp).uid, statSync(folders.generated).uid]).toEqual([65534, 65534, 0]);
  for (let folder = dirname(folders.home); folder !== bed.base; folder = dirname(folder)) expect(statSync(folder).mode & 0o777).toBe(0o711);
});

it('names a set of generated files by its content, and keeps a bounded number', () => {
  const folders = privateFolders(bed.config, bed.workspace, as);
  ensurePrivateFolders(folders, as);
  const first = writeGenerated(folders, { passwd: '1' });
  expect(writeGenerated(folders, { passwd: '1' })).toBe(first);
  expect(readFileSync(join(first, 'passwd'), 'utf8')).toBe('1');
  let last = first;
  for (let i = 0; i < 30; i++) last = writeGenerated(folders, { passwd: `x${i}` });
  expect(readdirSync(folders.generated).length).toBeLessThan(12);
  expect(readFileSync(join(last, 'passwd'), 'utf8')).toBe('x29');
});

it('takes a snapshot of /etc once, without a secret in it', () => {
  const snapshot = createEtcSnapshot();
  const parent = bed.folder('etc');
  const made = snapshot(parent);
  expect(snapshot(parent)).toBe(made);
  expect(createEtcSnapshot()(parent)).toBe(made);
  const names = readdirSync(made, { recursive: true, encoding: 'utf8' });
  expect(names).toEqual(expect.arrayContaining(['passwd', 'ssh/ssh_known_hosts', 'nsswitch.conf']));
  expect(names.filter((name) => /shadow|sudoers|ssh_host|private|machine-id|^pam\.d|cron/.test(name))).toEqual([]);
  expect(readFileSync(join(made, 'passwd'), 'utf8')).toBe('');
});

it('takes what everybody may read, and files by content where they are links to elsewhere', () => {
  const etc = bed.folder('host-etc');
  bed.file('host-etc/os-release', 'open');
  bed.file('host-etc/profile', 'for root alone', 0o600);
  bed.file('host-etc/profile.d/a.sh', 'open');
  bed.file('host-etc/profile.d/b.sh', 'for root alone', 0o640);
  bed.file('host-etc/shadow', 'hashes');
  bed.file('run/resolve/stub.conf', 'nameserver');
  symlinkSync('../run/resolve/stub.conf', join(etc, 'resolv.conf'));
  symlinkSync('../../run/resolve/stub.conf', join(etc, 'profile.d/c.sh'));
  const made = createEtcSnapshot(etc)(bed.folder('made'));
  expect(readFileSync(join(made, 'resolv.conf'), 'utf8')).toBe('nameserver');
  expect(lstatSync(join(made, 'profile.d/c.sh')).isSymbolicLink()).toBe(true);
  expect(readdirSync(made).toSorted()).toEqual([
    'gitconfig',
    'group',
    'hostname',
    'hosts',
    'npmrc',
    'os-release',
    'passwd',
    'pip.conf',
    'profile.d',
    'resolv.conf',
    'ssh',
  ]);
  expect(readdirSync(join(made, 'profile.d')).toSorted()).toEqual(['a.sh', 'c.sh']);
});

it('has empty places for what was opened there, and never below a link', () => {
  const etc = bed.folder('host-etc');
  for (const name of ['profile', 'shadow', 'app/a.conf']) bed.file(`host-etc/${name}`, 'text');
  symlinkSync(bed.folder('elsewhere'), join(etc, 'alternatives'));
  const [snapshot, parent] = [createEtcSnapshot(etc), bed.folder('made')];
  const usual = snapshot(parent);
  const paths = ['profile', 'shadow', 'app', 'alternatives/x'].map((name) => ({ path: join(etc, name) }));
  const made = snapshot(parent, paths);
  expect([readFileSync(join(made, 'shadow'), 'utf8'), readdirSync(join(made, 'app')), readFileSync(join(made, 'profile'), 'utf8')]).toEqual(
    ['', [], 'text'],
  );
  expect(readdirSync(bed.folder('elsewhere'))).toEqual([]);
  expect([snapshot(parent, paths), snapshot(parent), snapshot(parent, [{ path: bed.workspace }])]).toEqual([made, usual, usual]);
  expect(readdirSync(usual)).not.toContain('shadow');
});

it('walks past links by moving them aside, or not at all', () => {
  const root = bed.folder('root');
  const victim = bed.folder('victim');
  symlinkSync(victim, join(root, 'a'));
  expect(withFolder(root, ['a'], { make: false }, (folder) => folder)).toBeUndefined();
  withFolder(root, ['a', 'b'], { make: true }, (folder) => writeFileSync(join(folder, 'f'), ''));
  expect(readdirSync(victim)).toEqual([]);
  expect(readdirSync(join(root, 'a/b'))).toEqual(['f']);
  expect(readdirSync(root).filter((name) => name.startsWith('a.displaced-'))).toHaveLength(1);
});
