import { existsSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makePlace, type Place, runWrit, startMcp } from '../helpers/writ-process.ts';

let place: Place;
beforeEach(() => {
  place = makePlace();
});
afterEach(() => place.remove());

test('--sandbox says what contains commands; another word starts nothing', async () => {
  expect(await runWrit(place, ['check', '--sandbox', '--', 'ls'])).toMatchObject({ code: 0 });
  expect(await runWrit(place, ['check', '--sandbox=docker', '--', 'ls'])).toMatchObject({
    code: 78,
    stderr: expect.stringContaining('must be one of bubblewrap, container, none'),
  });
});

test('--sandbox=none runs commands without containment, in the foreground, and each answer says so', async () => {
  const mcp = await startMcp(place, { args: ['--root', place.workspace, '--sandbox=none'] });
  const answer = await mcp.call('shell', { command: 'bash -c "echo $PPID"; readlink /proc/self/ns/mnt' });
  expect(answer).toMatchObject({ isError: false, text: expect.stringContaining('ran without containment') });
  expect(await mcp.call('shell', { command: 'sleep 1', background: true })).toMatchObject({ isError: true });
  expect(await mcp.end()).toBe(0);
});

// As root where Podman is there the same words run in a container: test/execution/container.test.ts.
test.skipIf(existsSync('/usr/bin/podman') || existsSync('/usr/bin/docker') || existsSync('/usr/local/bin/docker'))(
  '--sandbox without an engine refuses each command with the fix',
  async () => {
    const mcp = await startMcp(place, { args: ['--root', place.workspace, '--sandbox'] });
    expect(await mcp.call('shell', { command: 'true' })).toMatchObject({
      isError: true,
      text: expect.stringContaining('apt-get install podman'),
    });
    await mcp.end();
  },
);
