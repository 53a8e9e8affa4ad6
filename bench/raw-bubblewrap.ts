import { spawn } from 'node:child_process';
import { closeSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContainment } from '../src/execution/containment/index.ts';
import { silentLogger } from '../src/kernel/logger.ts';
import type { Room } from './execution.ts';
import type { Place } from './place.ts';

/** A contained command without Writ around it: the very options, filter, environment and user of the plan, planned once. */
export async function rawBubblewrap(place: Place, room: Room, command: string): Promise<() => Promise<void>> {
  const plan = await createContainment(room.config, silentLogger).plan(room.spec(command));
  const folder = place.folder('raw');
  const args = join(folder, 'args');
  const filter = join(folder, 'filter');
  writeFileSync(args, plan.args.map((arg) => `${arg}\0`).join(''), { mode: 0o600 });
  writeFileSync(filter, plan.seccomp, { mode: 0o600 });
  const argv = ['--args', '3', '--seccomp', '4', '--', '/bin/bash', '--noprofile', '--norc', '-c', command];
  return async () => {
    const files = [openSync(args, 'r'), openSync(filter, 'r')] as const;
    const child = spawn(plan.bwrap, argv, {
      cwd: '/',
      env: plan.env,
      ...(plan.drop === undefined ? {} : { uid: plan.drop.uid, gid: plan.drop.gid }),
      stdio: ['ignore', 'pipe', 'pipe', ...files],
    });
    for (const fd of files) closeSync(fd);
    child.stdout?.resume();
    child.stderr?.resume();
    const code = await new Promise((done) => child.on('close', done));
    if (code !== 0) throw new Error(`bubblewrap ended with ${code}`);
  };
}
