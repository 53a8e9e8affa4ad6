import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { makeTar } from './image-tar.ts';

it('tar reads what was made: folders, a folder for all, links', () => {
  const tar = makeTar([{ path: 'var/lib' }, { path: 'tmp', shared: true }, { path: 'bin', link: 'usr/bin' }]);
  const lines = execFileSync('tar', ['-tvf', '-'], { input: tar, encoding: 'utf8', env: { PATH: '/usr/bin:/bin', TZ: 'UTC' } });
  const seen = lines
    .trim()
    .split('\n')
    .map((line) => line.replace(/\s+0\/0.*1970-01-01 00:00/, ''));
  expect(seen).toEqual(['drwxr-xr-x var/lib/', 'drwxrwxrwt tmp/', 'lrwxrwxrwx bin -> usr/bin']);
  expect(makeTar([{ path: 'var/lib' }])).toEqual(makeTar([{ path: 'var/lib' }]));
});
