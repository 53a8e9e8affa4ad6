import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Channels, createChannels } from '../../src/execution/channel/connect.ts';
import type { ExecutionConfig } from '../../src/execution/core-types.ts';
import { selfIdentity } from '../../src/execution/jobs/running-processes.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import type { Attempt } from './attempt.ts';
import { FILES } from './attempts/files.ts';
import { KERNEL } from './attempts/kernel.ts';
import { NETWORK } from './attempts/network.ts';
import { PROCESSES } from './attempts/processes.ts';
import { configIn } from './config.ts';
import { unlock } from './files.ts';
import { makeOutside } from './outside.ts';
import { carrying } from './run.ts';
import { LIMITS, makeScene } from './scene.ts';

/**
 * A program that stays stands in the sandbox of a run, planned from other words. So the attempts that are about neither a terminal nor a
 * deadline are made by one; that each of them succeeds without its control is shown with the runs.
 */
const ATTEMPTS: readonly Attempt[] = [...FILES, ...NETWORK, ...PROCESSES, ...KERNEL].filter(
  ({ between, ends, spec, afterwards, proof }) =>
    !between && !ends && !afterwards && proof !== 'unended' && typeof spec !== 'function' && !spec?.pty,
);

describe('escapes from a program that stays', () => {
  let outside: Awaited<ReturnType<typeof makeOutside>>;
  let config: ExecutionConfig;
  let channels: Channels;
  beforeAll(async () => {
    outside = await makeOutside(undefined);
    config = configIn(outside, {});
    channels = createChannels(config, { clock: systemClock, logger: silentLogger, self: selfIdentity() });
  });
  afterAll(async () => {
    await channels?.close();
    await outside?.close();
  });

  it.each(ATTEMPTS)('$id', async (attempt) => {
    outside.reset();
    const scene = makeScene(outside, { user_home: config.user_home, host_env: config.host_env }, attempt.id);
    attempt.prepare?.(scene);
    const { network = 'none', limits = LIMITS } = typeof attempt.spec === 'object' ? attempt.spec : {};
    const channel = await channels.connect(
      {
        name: 'upstream:escape',
        argv: ['/bin/bash', '-c', scene.script(attempt.script)],
        env: { PATH: '/usr/bin:/bin' },
        roots: [{ path: scene.workspace, access: 'write' }],
        network,
        unix_sockets: [],
        limits,
        dev_shm: true,
      },
      AbortSignal.timeout(15_000),
    );
    channel.stdin.end();
    let output = '';
    for (const stream of [channel.stdout, channel.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        output += bytes.toString('latin1');
      });
    }
    const said = [channel.stdout, channel.stderr].map((stream) => new Promise((end) => stream.on('close', end)));
    const { teardown } = await channel.ended;
    const survivors = carrying([scene.tag, channel.exec_id]);
    await Promise.all(said);
    const { files, contacts, victim_dead } = outside.changes();
    expect({ output: output.includes(outside.secret) || output.includes(scene.claim) ? output : '', files, contacts, victim_dead }).toEqual(
      {
        output: '',
        files: [],
        contacts: 0,
        victim_dead: false,
      },
    );
    expect({ survivors, teardown }).toMatchObject({ survivors: [], teardown: { verified: true, survivors: [] } });
    unlock(scene.workspace);
    rmSync(scene.workspace, { recursive: true, force: true });
  });
});
