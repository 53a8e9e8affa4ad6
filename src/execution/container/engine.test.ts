import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callEngine, complaint, findEngine } from './engine.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'writ-engine-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that answers as an engine would. */
function program(name: string, script: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`);
  chmodSync(path, 0o755);
  return path;
}
const find = (candidates: Parameters<typeof findEngine>[0]['candidates'], host_env = {}) =>
  findEngine({ candidates, host_env, user_home: '/home/somebody' });

it('the first that answers on this machine is taken', async () => {
  const broken = program('podman1', 'echo "Cannot connect to Podman" >&2; exit 125');
  const remote = program('podman2', 'echo "5.0.0|false|true|crun|v2"');
  const docker = program('docker', `echo '28.0.1|["name=seccomp","name=rootless"]|linux'`);
  const engine = await find([
    { kind: 'podman', path: join(folder, 'absent') },
    { kind: 'podman', path: broken },
    { kind: 'podman', path: remote },
    { kind: 'docker', path: docker },
  ]);
  expect(engine).toMatchObject({ kind: 'docker', path: docker, version: '28.0.1', rootless: true, options: [] });
  await expect(
    find([
      { kind: 'podman', path: broken },
      { kind: 'podman', path: remote },
    ]),
  ).rejects.toMatchObject({
    code: 'backend_unavailable',
    message: expect.stringMatching(/Cannot connect to Podman; .*runs containers on another machine/),
  });
});

it('crun where it refuses the control groups of the host is replaced by runc, if that is there', async () => {
  const hybrid = program('podman', 'echo "4.3.1|false|false|crun|v1"');
  const pure = program('podman-pure', 'echo "4.3.1|true|false|crun|v2"');
  const runc = ['/usr/bin/runc', '/usr/sbin/runc', '/usr/local/bin/runc', '/usr/local/sbin/runc'].some((path) => existsSync(path));
  expect((await find([{ kind: 'podman', path: hybrid }])).options).toEqual(runc ? ['--runtime', 'runc'] : []);
  expect(await find([{ kind: 'podman', path: pure }])).toMatchObject({ options: [], rootless: true });
});

it('gets what tells it where its files and its service are, and nothing else', async () => {
  const shows = program('shows', 'env > "$(dirname "$0")/env"; echo "1|true|false|runc|v2"');
  const engine = await find([{ kind: 'podman', path: shows }], { DOCKER_HOST: 'unix:///x', TOKEN: 'secret', LD_PRELOAD: '' });
  expect(engine.env).toMatchObject({ DOCKER_HOST: 'unix:///x', HOME: '/home/somebody' });
  expect(engine.env['TOKEN']).toBeUndefined();
});

it('a call is bounded in time, and its complaint is the line that says what is wrong', async () => {
  const slow = program('slow', 'exec sleep 60');
  expect(await callEngine({ path: slow, options: [], env: {} }, [], { timeout_ms: 50 })).toMatchObject({ code: null });
  expect(await callEngine({ path: join(folder, 'absent'), options: [], env: {} }, [])).toMatchObject({
    code: null,
    stderr: expect.stringContaining('ENOENT'),
  });
  expect(complaint('docker: Error response from daemon: no such image.\n\nRun "docker run --help" for more.\n')).toContain('no such image');
});
