import { expect, test } from 'vitest';
import { ETC_ENTRIES } from '../../src/execution/containment/etc-table.ts';
import { GENERATED_AT } from '../../src/execution/containment/generated-files.ts';
import { assessCommand, decide } from '../../src/policy/index.ts';
import { VISIBLE_ETC } from '../../src/policy/paths/tables.ts';

/** Policy says what of /etc is read without a question, execution what of it a run has: neither may import the other. */
const context = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path: string) => path, which: () => undefined },
};
const verdictOf = (path: string): string =>
  decide(assessCommand(`cat ${path}`, context), { classes: {}, deny: [], prompt: [], allow: [] }).verdict;

const shown = (name: string): boolean =>
  ETC_ENTRIES.some((entry) => (typeof entry === 'string' ? entry === name : entry.test(name))) ||
  Object.values(GENERATED_AT).includes(`/etc/${name}`);

test('what a run has of /etc is read without a question', () => {
  const names = ETC_ENTRIES.flatMap((entry) => (typeof entry === 'string' ? [entry] : []));
  const examples = [
    'java',
    'java-17-openjdk',
    'python3',
    'python3.11',
    'ssl/certs/ca.crt',
    'profile.d/x.sh',
    'ssl',
    'ssh',
    'default',
    'pki/tls',
  ];
  const asked = [...names, ...examples].map((name) => `/etc/${name}`).filter((path) => verdictOf(path) !== 'allow');
  expect(asked).toEqual([]);
  for (const path of ['/etc', ...Object.values(GENERATED_AT), '/etc/*-release']) expect([path, verdictOf(path)]).toEqual([path, 'allow']);
});

test('what it has not is asked for', () => {
  const hidden = [
    'fstab',
    'machine-id',
    'nginx/nginx.conf',
    'default/grub',
    'ssl/private',
    'ssh/sshd_config',
    'passwd-',
    'mtab',
    'crontab',
  ];
  expect(hidden.filter(shown)).toEqual([]);
  for (const name of hidden) expect([name, verdictOf(`/etc/${name}`)]).toEqual([name, 'prompt']);
});

test('policy calls nothing visible that containment does not show', () => {
  const examples = VISIBLE_ETC.map((name) => name.replace(/^java\*$/, 'java-17').replace(/^python\*$/, 'python3'));
  expect(examples.filter((name) => !shown(name))).toEqual([]);
});
