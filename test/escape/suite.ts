import { execFileSync } from 'node:child_process';
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createContainment } from '../../src/execution/containment/index.ts';
import type { Containment, Running } from '../../src/execution/core-types.ts';
import { createRunning } from '../../src/execution/running/index.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLogger } from '../../src/kernel/logger.ts';
import type { Attempt, Damage } from './attempt.ts';
import { FILES } from './attempts/files.ts';
import { KERNEL } from './attempts/kernel.ts';
import { RESOURCES } from './attempts/limits.ts';
import { NETWORK } from './attempts/network.ts';
import { PERSISTENCE } from './attempts/persistence.ts';
import { PROCESSES } from './attempts/processes.ts';
import { configIn } from './config.ts';
import { type Ablated, CONTROLS, CONTROLS_OF_ROOT, type ControlName, wayWithout, without } from './controls.ts';
import { describePath, unlock } from './files.ts';
import { hostFor } from './host.ts';
import { makeOutside } from './outside.ts';
import { carryOut, type Ended, endAll } from './run.ts';
import { makeScene, type Scene } from './scene.ts';

const ATTEMPTS: readonly Attempt[] = [...FILES, ...NETWORK, ...PROCESSES, ...KERNEL, ...PERSISTENCE, ...RESOURCES];

/** Attempts that are shown to be real here: the machine itself doesn't stop them. */
const LEAST_COUNTED = 40;

/**
 * Every attempt against the real thing: containment plans, running carries out; policy, which would refuse many of them before, is left out,
 * since containment is the boundary. `uid`: for root, whose Workspaces they are. `show`: every control's part too, or only that all are contained.
 */
export function escapes(who: string, uid: number | undefined, show: 'all' | 'contained' = 'all'): void {
  const host = hostFor(uid);
  const counted = ATTEMPTS.filter((attempt) => attempt.stopped_by.length > 0 && attempt.host_stops?.(host) === undefined);
  describe(`escapes from a run of ${who}`, () => {
    let outside: Awaited<ReturnType<typeof makeOutside>>;
    let containment: Containment;
    let running: Running;

    beforeAll(async () => {
      outside = await makeOutside(uid);
      const ssh = `${outside.variables['SOCKET_HOME']}`;
      const config = configIn(outside, { SSH_AUTH_SOCK: ssh, LD_PRELOAD: '', BASH_ENV: '/dev/null', PERL5OPT: '' });
      hostEnv = config.host_env;
      containment = createContainment(config, silentLogger);
      running = createRunning(config, systemClock);
    });
    afterAll(async () => {
      await running?.close();
      await outside?.close();
    });
    let hostEnv: Readonly<Record<string, string>> = {};

    /** `way`: carried out like that, with all its controls. */
    async function attemptWith(
      attempt: Attempt,
      removed: readonly ControlName[],
      way?: Ablated['way'],
    ): Promise<{ damage: readonly Damage[]; ended: Ended }> {
      outside.reset();
      const scene = makeScene(outside, { user_home: outside.user_home, host_env: hostEnv }, attempt.id);
      attempt.prepare?.(scene);
      const spec = scene.spec(
        scene.script(attempt.script),
        typeof attempt.spec === 'function' ? attempt.spec(scene) : (attempt.spec ?? {}),
      );
      const planned = await containment.plan(spec);
      const plan = attempt.between?.(planned, scene) ?? planned;
      const before = obeyed(scene);
      const ablated = way === undefined ? without(removed, plan, scene) : { plan, spec: {}, way };
      const ended = await carryOut(ablated.way, running, ablated.plan, { ...spec, ...ablated.spec }, scene);
      if (attempt.afterwards === 'git') workAsAPerson(scene);
      const damage = damageOf(attempt, ended, scene, before);
      if (ablated.way !== 'writ') await endAll(scene.tag);
      unlock(scene.workspace);
      rmSync(scene.workspace, { recursive: true, force: true });
      return { damage, ended };
    }

    function damageOf(attempt: Attempt, { output, result, survivors }: Ended, scene: Scene, before: readonly string[]): readonly Damage[] {
      const { files, contacts, victim_dead } = outside.changes();
      const found: Record<Damage, boolean> = {
        secret: output.includes(outside.secret),
        claim: output.includes(scene.claim) || (result !== undefined && attempt.claims?.(result) === true),
        outside: files.length > 0,
        contacted: contacts > 0,
        victim: victim_dead,
        planted: JSON.stringify(obeyed(scene)) !== JSON.stringify(before),
        survivor: survivors.length > 0,
        unended: result !== undefined && result.outcome.state !== (attempt.ends ?? 'exited'),
      };
      return (Object.keys(found) as Damage[]).filter((name) => found[name]);
    }

    describe.each(ATTEMPTS)('$id', (attempt) => {
      it('is contained, and nothing of it survives', async ({ skip }) => {
        const { damage, ended } = await attemptWith(attempt, []);
        const missing = attempt.needs && ended.result?.receipt?.containment.dimensions[attempt.needs];
        if (missing && missing.state !== 'enforced') skip(`${attempt.needs}: ${missing.reason}`);
        expect({ damage, output: damage.length > 0 ? ended.output : '' }).toEqual({ damage: [], output: '' });
        expect(ended.survivors).toEqual([]);
        if (ended.result?.receipt) expect(ended.result.receipt.teardown).toMatchObject({ verified: true, survivors: [] });
      });

      if (show === 'contained') return;
      for (const one of attempt.stopped_by.length > 1 ? attempt.stopped_by : []) {
        it(`is contained without "${one}" too`, async () => {
          const { damage, ended } = await attemptWith(attempt, [one]);
          expect({ damage, output: damage.length > 0 ? ended.output : '' }).toEqual({ damage: [], output: '' });
        });
      }

      const way = wayWithout(attempt.stopped_by);
      if (way !== undefined) {
        it(`is contained by ${way} with it`, async () => {
          const { damage, ended } = await attemptWith(attempt, [], way);
          expect({ damage, output: damage.length > 0 ? ended.output : '' }).toEqual({ damage: [], output: '' });
        });
      }

      if (!counted.includes(attempt)) return;
      it(`succeeds without ${attempt.stopped_by.join(', ')}`, async () => {
        const { damage, ended } = await attemptWith(attempt, attempt.stopped_by);
        expect({ damage, output: damage.includes(attempt.proof) ? '' : ended.output }).toEqual({
          damage: expect.arrayContaining([attempt.proof]),
          output: '',
        });
      });
    });

    if (show === 'contained') return;
    it('are enough, and each control is shown to matter', () => {
      expect(counted.length).toBeGreaterThanOrEqual(LEAST_COUNTED);
      const used = new Set(counted.flatMap((attempt) => attempt.stopped_by));
      const unused = (Object.keys(CONTROLS) as ControlName[]).filter((name) => !used.has(name));
      // What an ordinary user may not do anyway, nobody has to keep it from.
      expect(unused.filter((name) => host.uid === 0 || !CONTROLS_OF_ROOT.has(name))).toEqual([]);
      expect(new Set(ATTEMPTS.map(({ id }) => id)).size).toBe(ATTEMPTS.length);
    });
  });
}

/** Some of what other programs obey in a Workspace, as it is. */
const OBEYED = ['.claude', '.cursor', '.vscode', '.idea', '.mcp.json', '.goosehints', '.envrc', 'writ.json', 'tools/envrc'];
/** Folders that a person may open as well. */
const OPENED = ['.', 'packages/app', 'packages/web', 'packages/new', 'many/500/x'];

function obeyed({ workspace }: Scene): readonly string[] {
  return OPENED.flatMap((folder) => OBEYED.map((name) => join(workspace, folder, name))).flatMap((path) => describePath(path));
}

/** What a person does in the Workspace after the run, outside of any sandbox: hooks and helpers that were planted run now. */
function workAsAPerson({ workspace, outside, user_home }: Scene): void {
  for (const folder of ['.', 'packages/inner', 'fresh', 'mirror']) {
    const cwd = join(workspace, folder);
    if (!existsSync(cwd)) continue;
    for (const args of [
      ['status', '--short'],
      ['commit', '-q', '--allow-empty', '-m', 'work'],
      ['checkout', '-q', '-b', 'next'],
    ]) {
      try {
        execFileSync('git', ['-c', 'user.name=P', '-c', 'user.email=p@example.org', ...args], {
          cwd,
          env: { PATH: '/usr/bin:/bin', HOME: user_home, GIT_CONFIG_NOSYSTEM: '1' },
          stdio: 'ignore',
          ...(outside.drop === undefined ? {} : { uid: outside.drop, gid: outside.drop }),
        });
      } catch {
        // A repository that the attempt has spoilt is no damage outside.
      }
    }
  }
}
