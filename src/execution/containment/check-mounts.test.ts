import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxPlan } from '../core-types.ts';
import { checkMounts } from './check-mounts.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
beforeEach(() => {
  bed = makeBed();
  mkdirSync(join(bed.workspace, '.claude'));
  mkdirSync(join(bed.workspace, 'sub/.git/hooks'), { recursive: true });
  mkdirSync(join(bed.user_home, '.ssh/.git/hooks'), { recursive: true });
});
afterEach(() => bed.remove());

/** Builds a plan's sandbox, lets it wait as the start gate does, and looks into it from outside. */
async function lookInside(plan: SandboxPlan): Promise<string | undefined> {
  const child = spawn(plan.bwrap, ['--args', '3', '--info-fd', '4', '--', '/bin/bash', '-c', 'echo ready; read -r'], {
    cwd: '/',
    env: { ...plan.env },
    ...(plan.drop ?? {}),
    stdio: ['pipe', 'pipe', 'inherit', 'pipe', 'pipe'],
  });
  const [, , , options, info] = child.stdio;
  if (!options || !('end' in options) || !info || !('read' in info)) throw new Error('no pipes');
  options.end(plan.args.map((option) => `${option}\0`).join(''));
  let text = '';
  info.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  const ended = once(child, 'close');
  try {
    if (child.stdout) await Promise.race([once(child.stdout, 'data'), ended]);
    const init = Number(/"child-pid": (\d+)/.exec(text)?.[1]);
    expect(init).toBeGreaterThan(0);
    return checkMounts(plan, init);
  } finally {
    child.stdin?.end();
    await ended;
  }
}

it('finds everything as planned', async () => {
  expect(await lookInside(await bed.plan())).toBeUndefined();
});

// bubblewrap resolves the source on the host and the destination inside. With a folder of the same name prepared in the private
// HOME both exist, and the person's real folder would be mounted there.
it('finds a protected folder that became a link into the home after the plan was made', async () => {
  const plan = await bed.plan();
  mkdirSync(join(plan.private_home, '.ssh'));
  rmSync(join(bed.workspace, '.claude'), { recursive: true });
  symlinkSync('../../people/dev/.ssh', join(bed.workspace, '.claude'));
  expect(await lookInside(plan)).toContain('.claude');
});

it('finds a parent that became a link', async () => {
  const plan = await bed.plan();
  mkdirSync(join(plan.private_home, '.ssh/.git/hooks'), { recursive: true });
  renameSync(join(bed.workspace, 'sub'), join(bed.workspace, 'sub2'));
  symlinkSync('../../people/dev/.ssh', join(bed.workspace, 'sub'));
  expect(await lookInside(plan)).toContain(`${bed.workspace}/sub`);
});

it('finds a workspace that was replaced', async () => {
  const plan = await bed.plan();
  renameSync(bed.workspace, `${bed.workspace}-old`);
  mkdirSync(join(bed.workspace, '.claude'), { recursive: true });
  mkdirSync(join(bed.workspace, 'sub/.git/hooks'), { recursive: true });
  expect(await lookInside(plan)).toContain(bed.workspace);
});

it('counts a sandbox that is gone as not as planned', async () => {
  expect(checkMounts(await bed.plan(), 2 ** 22)).toContain('is not there');
});
