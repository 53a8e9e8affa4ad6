import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { findEngine } from '../../src/execution/container/engine.ts';
import { findTarget } from '../../src/execution/container/image.ts';
import { createContainerContainment } from '../../src/execution/container/index.ts';
import { HOME_LABEL, homeTag } from '../../src/execution/container/names.ts';
import { prepareContainer } from '../../src/execution/container/prepare.ts';
import { createRepositoryFinder } from '../../src/execution/containment/repositories.ts';
import type { Execution } from '../../src/execution/index.ts';
import { selfIdentity } from '../../src/execution/jobs/running-processes.ts';
import { createProofStore } from '../../src/execution/runner/proof-store.ts';
import { judge } from '../../src/execution/running/identity.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { newId } from '../../src/kernel/ids.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import { type ContainerPlace, makeContainerPlace, NEVER, PODMAN, UID } from './container-place.ts';
import { processesWith, runnerOf } from './place.ts';

const place: ContainerPlace = makeContainerPlace();
const { home, workspace, spec } = place;
const engineThere = process.getuid?.() === 0 && existsSync('/usr/bin/podman');
const execution: Execution = place.execution();
// Where a machine can start no container at all there is nothing to test; one that starts and doesn't contain is a failure.
const probe = engineThere ? await execution.probe() : undefined;
const NO_ENGINE = probe === undefined || (!probe.ok && /could not be started|No container engine/.test(probe.cause));
afterAll(() => place.remove());

const run = (command: string, more = {}) => execution.run(spec(command, more), NEVER);
const containers = (): readonly string[] =>
  place
    .podman('ps', '--all', '--filter', `label=${HOME_LABEL}=${homeTag(home)}`, '--format', '{{.Names}} {{.State}}')
    .split('\n')
    .filter(Boolean);

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const address = server.address();
  await new Promise((done) => server.close(done));
  return typeof address === 'object' && address ? address.port : 0;
}

describe('without an engine', () => {
  it('nothing runs, nothing else takes its place, and the fix is told', async () => {
    const alone = makeContainerPlace();
    const none = alone.execution({
      container: { engines: [{ kind: 'docker', path: '/nonexistent/docker' }] },
      bwrap_candidates: ['/usr/bin/bwrap'],
    });
    expect(await none.probe()).toMatchObject({
      ok: false,
      code: 'backend_unavailable',
      fix: expect.stringContaining('apt-get install podman'),
    });
    await expect(none.run(alone.spec('touch ran'), NEVER)).rejects.toMatchObject({ code: 'backend_unavailable' });
    await expect(none.jobs.start(alone.spec('touch ran'), NEVER)).rejects.toMatchObject({ code: 'backend_unavailable' });
    expect(readdirSync(alone.workspace)).toEqual([]);
    await alone.remove();
  });
});

describe('backend none', () => {
  it('runs in the foreground without containment and says so; jobs are refused', async () => {
    const alone = makeContainerPlace();
    const none = alone.execution({ backend: 'none' });
    expect(await none.probe()).toMatchObject({ ok: true, report: { backend: 'none', dimensions: { fs_read: { state: 'not_enforced' } } } });
    const opened = { openings: [{ path: '/etc/hostname', access: 'read' as const }], network: { hosts: ['example.com'], presets: [] } };
    const { outcome, receipt } = await none.run(alone.spec(`readlink /proc/self/ns/mnt`, opened), NEVER);
    expect({ outcome, backend: receipt?.containment.backend }).toEqual({ outcome: { state: 'exited', exit_code: 0 }, backend: 'none' });
    await expect(none.jobs.start(alone.spec('true'), NEVER)).rejects.toMatchObject({ code: 'invalid_arguments' });
    await alone.remove();
  });
});

describe.skipIf(NO_ENGINE)('in a container (Podman)', () => {
  it('this machine contains what it should', () => {
    expect(probe).toMatchObject({ ok: true });
    const report = probe?.ok ? probe.report : undefined;
    expect(report?.backend).toBe('container');
    const states = Object.entries(report?.dimensions ?? {}).map(([name, { state }]) => `${name} ${state}`);
    // Root's own Workspaces, which the probe stands for, and what is only watched.
    expect(states.filter((line) => !line.endsWith(' enforced'))).toEqual(['disk best_effort', 'uid not_enforced']);
  });

  it('a command is the owner of the Workspace, sees its folders and no more, and its exit and output are told', async () => {
    mkdirSync(join(workspace, '.git', 'hooks'), { recursive: true });
    writeFileSync(join(home, 'private.txt'), 'secret');
    const { outcome, output, receipt } = await run(`
      id -u; id -g; pwd; tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' '; ls -A /sys; touch new; echo kept > ~/kept; printf '#!/bin/sh\\n' > /tmp/x; chmod 755 /tmp/x
      for path in /usr/x /x /etc/x .git/hooks/x; do (: > $path) 2>/dev/null && echo "wrote $path"; done
      /tmp/x 2>/dev/null || echo noexec $?
      (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null || echo unreachable
      ls ${home} 2>/dev/null; env | grep -c canary; [ -e /run/.writ/gate ] && echo gate; ls /proc/self/fd | wc -l
      echo to stderr >&2; exit 7`);
    expect(output.stdout.head.split('\n')).toEqual([
      ...[String(UID), String(UID), workspace, 'lo', 'noexec 126', 'unreachable', '0', '4'],
      '',
    ]);
    expect(output.stderr.head).toBe('to stderr\n');
    expect(outcome).toEqual({ state: 'exited', exit_code: 7 });
    expect(statSync(join(workspace, 'new')).uid).toBe(UID);
    expect(receipt).toMatchObject({
      teardown: { verified: true, method: 'namespace_init_gone', survivors: [] },
      containment: {
        backend: 'container',
        dimensions: { uid: { state: 'enforced' }, memory: { state: 'enforced' }, tmp_noexec: { state: 'enforced' } },
      },
    });
    expect(receipt?.pid_namespace).toMatch(/^pid:\[\d+\]$/);
    expect(containers()).toEqual([]);
  });

  it('HOME stays from run to run; a command is a bash of its own, of any length, with all of its output counted', async () => {
    const long = `X=${'y'.repeat(300_000)}; echo \${#X}; cat ~/kept; trap 'echo got' INT; kill -INT $$; head -c 3000000 /dev/zero | tr '\\0' z; cat >&2`;
    const { output, outcome } = await run(long, { stdin: Buffer.from('given') });
    expect(outcome).toEqual({ state: 'exited', exit_code: 0 });
    expect(output.stdout.head.slice(0, 20)).toBe('300000\nkept\ngot\nzzzz');
    const all = `300000\nkept\ngot\n${'z'.repeat(3_000_000)}`;
    expect(output.stdout).toMatchObject({ total_bytes: all.length, sha256: createHash('sha256').update(all).digest('hex') });
    expect(output.stderr.head).toBe('given');
  });

  it('its deadline ends the whole tree, and the container is gone', async () => {
    const { outcome, receipt } = await run('(setsid sleep 50.0907 &) ; trap "" TERM; sleep 50.0907', { timeout_ms: 1_000 });
    expect(outcome).toEqual({ state: 'timed_out', exit_code: 124 });
    expect(receipt?.teardown).toMatchObject({ verified: true, survivors: [] });
    expect(processesWith('50.0907')).toEqual([]);
    expect(containers()).toEqual([]);
  });

  it('processes and memory are limited, and it is told', async () => {
    const many = await run(`python3 -c 'import os, time
for n in range(200):
  if os.fork() == 0: time.sleep(50)'`);
    expect(many.output.stderr.head).toContain('Resource temporarily unavailable');
    expect(many.receipt?.limits_hit).toEqual(['pids']);
    const big = await run('head -c 600m /dev/zero | tail');
    expect(big.outcome).not.toEqual({ state: 'exited', exit_code: 0 });
    expect(big.receipt?.limits_hit).toContain('memory');
  });

  it('an opening is there as it was shown, and ports of the host are where they were opened', async () => {
    const outside = join(place.root, 'outside.txt');
    writeFileSync(outside, 'seen');
    const server = createServer((socket) => socket.end('from the host'));
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const other = place.execution({ loopback: [port] });
    const command = `cat ${outside}; (: > ${outside}) 2>/dev/null || echo read-only; cat < /dev/tcp/127.0.0.1/${port}`;
    const { output } = await other.run(spec(command, { openings: [{ path: outside, access: 'read' }] }), NEVER);
    server.close();
    expect(output.stdout.head).toBe('seenread-only\nfrom the host');
  });

  it('a job runs in one, publishes its port, and is ended when it is cancelled', async () => {
    const port = await freePort();
    const serve = `python3 -c "
import socket
s=socket.socket(); s.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1); s.bind(('127.0.0.1',${port})); s.listen(); print('up',flush=True)
while True:
  c,_=s.accept(); c.sendall(b'from the job'); c.close()"`;
    const { job_id } = await execution.jobs.start(spec(serve, { ports: [port] }), NEVER);
    const page = await execution.jobs.output(job_id, { cursor: 0, max_bytes: 100, wait_ms: 20_000 }, NEVER);
    expect(page?.chunks[0]?.text).toBe('up\n');
    const answer = await new Promise<string>((done, failed) => {
      let text = '';
      connect(port, '127.0.0.1')
        .on('data', (bytes) => (text += bytes.toString()))
        .on('error', failed)
        .on('close', () => done(text));
    });
    expect(answer).toBe('from the job');
    expect(await execution.jobs.cancel(job_id, 'enough')).toMatchObject({ state: 'cancelled', receipt: { teardown: { verified: true } } });
    expect(containers()).toEqual([]);
  });

  it.each([
    ['at its gate', undefined],
    ['in the middle', 'echo begun; sleep 50.0909'],
  ])('it ends by itself when nobody is at the other end, %s', async (_where, command) => {
    const supervisor = selfIdentity();
    const proofs = createProofStore(home, silentLogger);
    const containment = createContainerContainment(place.config, silentLogger, proofs, createRepositoryFinder());
    const plan = await containment.plan(spec('', { cwd: workspace }));
    const marker = newId('exec');
    const parts = { clock: systemClock, scratch: join(home, 'gates'), supervisor };
    const prepared = await prepareContainer({ plan, marker, stdin: 'closed' }, parts);
    if ('reason' in prepared) throw new Error(prepared.reason);
    const { sandbox } = prepared;
    if (command !== undefined) {
      sandbox.open({ cwd: workspace, command });
      expect(await sandbox.started).toBe(true);
    }
    sandbox.release();
    await expect.poll(() => judge(sandbox.init), { timeout: 10_000 }).not.toBe('OWNED');
    expect(processesWith('50.0909')).toEqual([]);
    await sandbox.tree?.end();
  });

  it('ends with its supervisor, and the next start removes what the engine keeps', async () => {
    const other = place.execution();
    const handle = await other.start(spec('echo begun; sleep 50.0908'), NEVER);
    await expect.poll(async () => (await handle.view()).stdout.head).toBe('begun\n');
    process.kill(runnerOf(join(home, 'runs', handle.exec_id)), 'SIGKILL');
    expect(await handle.done).toMatchObject({ outcome: { state: 'lost' } });
    await expect.poll(() => processesWith('50.0908'), { timeout: 10_000 }).toEqual([]);
    await expect.poll(() => containers().length, { timeout: 10_000 }).toBe(1);
    await execution.recover();
    expect(containers()).toEqual([]);
    expect(readdirSync(join(home, 'containers')).filter((name) => name.startsWith('box-'))).toEqual([]);
  });

  it('files are searched in one, and what a container alone has is no place of the file tools', async () => {
    writeFileSync(join(workspace, 'a.txt'), 'needle\n');
    const files = await execution.files();
    const scene = files.scene([{ path: workspace, access: 'write' }], []);
    expect(scene.places.some(({ inside }) => inside === '/tmp')).toBe(false);
    expect(scene.as).toMatchObject({ uid: UID, drop: true });
    let out = '';
    const onOutput = (chunk: Buffer): boolean => {
      out += chunk.toString();
      return true;
    };
    const end = await files.search(
      { scene, root: workspace, folder: workspace, args: ['--no-config', 'needle', './'], timeout_ms: 20_000, onOutput },
      NEVER,
    );
    expect(end).toMatchObject({ exit_code: 0, ended: 'by_itself' });
    expect(out).toContain('needle');
    expect(containers()).toEqual([]);
  });

  it('an image is run by the digest of its first use; another one of the same name is refused', async () => {
    const image = `localhost/writ-test-${process.pid}:1`;
    // What the probe needs, from this machine, and a file that tells one image from the next.
    const tree = join(place.root, 'image');
    const programs = ['bash', 'readlink', 'mv', 'rm', 'grep'].map((name) => `/usr/bin/${name}`);
    const libraries = new Set(execFileSync('ldd', programs, { encoding: 'utf8' }).match(/\/lib[^\s:]+/g) ?? []);
    mkdirSync(join(tree, 'tmp'), { recursive: true });
    chmodSync(join(tree, 'tmp'), 0o1777);
    execFileSync('cp', ['--parents', '--dereference', ...programs, ...libraries, tree]);
    symlinkSync('usr/bin', join(tree, 'bin'));
    const make = (name: string): void => {
      writeFileSync(join(tree, name), '');
      const tar = execFileSync('tar', ['-cf', '-', '-C', tree, '.'], { maxBuffer: 1 << 28 });
      const change = ['--change', 'ENV OF_THE_IMAGE=yes'];
      execFileSync(PODMAN.path, ['import', ...change, '-', image], { input: tar, stdio: ['pipe', 'ignore', 'ignore'] });
    };
    make('first');
    const named = { container: { engines: [PODMAN], image } } as const;
    const first = place.execution(named);
    const { output, outcome } = await first.run(spec('echo "$OF_THE_IMAGE $PATH $HOME"; echo /*; : > made'), NEVER);
    expect(outcome).toEqual({ state: 'exited', exit_code: 0 });
    expect(output.stdout.head).toContain('yes /usr/local/sbin');
    expect(output.stdout.head).toContain('/first');
    expect(output.stdout.head).not.toContain('/opt');
    make('second');
    const engine = await findEngine({ candidates: [PODMAN], host_env: {}, user_home: place.root });
    await expect(findTarget(engine, image, home, 1)).rejects.toMatchObject({
      code: 'backend_unavailable',
      message: expect.stringContaining('is not the one that was first used'),
    });
    await expect(findTarget(engine, 'localhost/writ-never:1', home, 1)).rejects.toMatchObject({
      code: 'backend_unavailable',
      fix: expect.stringContaining('podman pull localhost/writ-never:1'),
    });
    place.podman('rmi', '--force', image);
  });
});
