import { expect, it } from 'vitest';
import { withSubmounts, writableByMistake } from './submounts.ts';

const LINE = (path: string, options: string): string => `36 35 98:0 / ${path} ${options} shared:1 - ext4 /dev/x rw`;

it('what is mounted below something read-only is bound read-only itself', () => {
  const info = [LINE('/', 'rw'), LINE('/usr', 'rw'), LINE('/usr/local', 'rw'), LINE('/usr/a\\040b', 'rw'), LINE('/w/data', 'rw')].join(
    '\n',
  );
  const bind = (source: string, dest: string, access: 'read' | 'write') => ({ kind: 'bind', source, dest, access }) as const;
  expect(withSubmounts([bind('/usr', '/usr', 'read'), bind('/w', '/w', 'write'), bind('/usr', '/u', 'read')], info)).toEqual([
    bind('/usr', '/usr', 'read'),
    bind('/usr/local', '/usr/local', 'read'),
    bind('/usr/a b', '/usr/a b', 'read'),
    bind('/w', '/w', 'write'),
    bind('/usr', '/u', 'read'),
    bind('/usr/local', '/u/local', 'read'),
    bind('/usr/a b', '/u/a b', 'read'),
  ]);
});

it('a container is asked for what can be written in it', () => {
  // This process stands for one: its root can be written, or (in a container with a read-only one) something else is read-only.
  expect(writableByMistake([{ dest: '/', access: 'read' }], process.pid)).toMatch(/can be written/);
  expect(writableByMistake([], 0x7fff_ffff)).toMatch(/can not be read/);
});
