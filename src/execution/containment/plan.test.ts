import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SandboxPlan } from '../core-types.ts';
import { within } from './mount.ts';
import { type Bed, LIMITS, makeBed } from './testing.ts';

let bed: Bed;
beforeAll(() => {
  bed = makeBed();
  for (const path of ['bin', '.local/bin', '.ssh', '.config/x', 'src/app', 'src/lib', '.nvm/versions/node/v1/bin'])
    bed.folder(join(bed.user_home, path));
  symlinkSync('/', join(bed.base, 'to-root'));
  symlinkSync(bed.user_home, join(bed.base, 'to-home'));
  symlinkSync(bed.config.home, join(bed.base, 'to-writ'));
});
afterAll(() => bed.remove());

/** Sources of every bind of a plan. */
function sources({ args }: SandboxPlan): readonly string[] {
  return args.flatMap((option, index) => (/^--(ro-|dev-)?bind(-try|-fd)?$/.test(option) ? [args[index + 1] ?? ''] : []));
}

describe('whatever is asked for', () => {
  it('no plan ever binds the Writ home, the whole home, the root, or anything that holds them', async () => {
    const path = fc.constantFrom(
      ...[
        '',
        'bin',
        '.local/bin',
        '.ssh',
        '.config',
        '.config/x',
        'src',
        'src/app',
        'src/lib',
        '.nvm/versions/node/v1/bin',
        '.writ',
        '.writ/key',
        '..',
        '../..',
      ].map((below) => join(bed.user_home, below)),
      ...['/', '/tmp', '/usr', '/etc', '/etc/passwd', '/home', '/root', '/proc/1/root', '/dev', '/run', '/var', '/var/lib'],
      ...['to-root', 'to-home', 'to-writ', 'to-home/src/app', 'work', 'work/app'].map((below) => join(bed.base, below)),
    );
    const access = fc.constantFrom('read' as const, 'write' as const);
    const given = fc.record({ path, access });
    let planned = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(given, { maxLength: 2 }),
        fc.array(given, { maxLength: 2 }),
        fc.array(path, { maxLength: 5 }),
        fc.dictionary(fc.constantFrom('VIRTUAL_ENV', 'JAVA_HOME', 'GOPATH', 'CARGO_HOME', 'NVM_DIR'), path),
        async (workspaces, openings, entries, variables) => {
          const host_env = { ...variables, PATH: entries.join(':') };
          const made = await bed
            .plan({ workspaces: [{ path: bed.workspace, access: 'write' }, ...workspaces], openings }, { host_env })
            .catch((error: { code?: string }) => {
              expect(['workspace_unavailable', 'invalid_arguments']).toContain(error.code);
              return undefined;
            });
          if (!made) return;
          planned++;
          for (const source of sources(made)) {
            expect(within(bed.user_home, source)).toBe(false);
            expect(within(bed.config.home, source)).toBe(false);
            // Of the Writ home only the private folders, and each of them alone.
            if (within(source, bed.config.home))
              expect(source).toMatch(/\/private\/[0-9a-f]{24}\/(home|tmp|generated\/[0-9a-f]{24})(\/|$)|\/private\/etc-[0-9a-f]{24}$/);
          }
        },
      ),
      { numRuns: 300 },
    );
    expect(planned).toBeGreaterThan(20);
  });
});

describe('a plan', () => {
  it('seals the root last, after every mount', async () => {
    const { args } = await bed.plan();
    const last = args.lastIndexOf('--remount-ro');
    expect(args.slice(last)).toEqual(['--remount-ro', '/', '--chdir', bed.workspace]);
  });

  it('mounts no path under one that a later mount hides', async () => {
    const { args } = await bed.plan({
      workspaces: [
        { path: join(bed.user_home, 'src/app'), access: 'write' },
        { path: bed.workspace, access: 'read' },
      ],
    });
    const dests = args.flatMap((option, index) => (/^--(ro-)?bind(-try)?$/.test(option) ? [args[index + 2] ?? ''] : []));
    for (const [index, dest] of dests.entries()) {
      for (const later of dests.slice(index + 1)) expect([later, dest !== later && within(dest, later)]).toEqual([later, false]);
    }
  });

  it('has the same key for the same question, and another for any difference', async () => {
    const keys = await Promise.all(
      [
        {},
        {},
        { pty: { cols: 80, rows: 24 } },
        { git_config_write: true },
        { nested_userns: true },
        { limits: { ...LIMITS, pids: 3 } },
        { workspaces: [{ path: bed.workspace, access: 'read' as const }] },
      ].map(async (more) => (await bed.plan(more)).key),
    );
    expect(keys[0]).toBe(keys[1]);
    expect(new Set(keys).size).toBe(keys.length - 1);
    expect((await bed.plan({ cwd: bed.folder('work/app/below') })).key).toBe(keys[0]);
    const environment = await bed.plan({}, { host_env: { ...bed.config.host_env, LANG: 'C' } });
    expect(keys).not.toContain(environment.key);
    bed.folder('work/app/.claude');
    expect(keys).not.toContain((await bed.plan()).key);
  });

  it('takes the stricter of each limit', async () => {
    const { limits } = await bed.plan({ limits: { ...LIMITS, pids: 3, memory_bytes: 2 * LIMITS.memory_bytes } });
    expect(limits).toEqual({ ...LIMITS, pids: 3 });
  });

  it('starts a session of its own only without a terminal, and nests only on request', async () => {
    expect((await bed.plan()).args).toEqual(expect.arrayContaining(['--new-session', '--disable-userns']));
    expect((await bed.plan({ pty: { cols: 80, rows: 24 } })).args).not.toContain('--new-session');
    const nested = await bed.plan({ nested_userns: true });
    expect(nested.args).not.toContain('--disable-userns');
    expect(nested.dimensions.user_ns_nesting?.state).toBe('not_enforced');
  });

  it('holds no secret in its options: no environment, no command', async () => {
    const { args } = await bed.plan({ command: 'the-command' }, { host_env: { PATH: '/usr/bin', MINE: 'the-value' }, env_pass: ['MINE'] });
    expect(args.join(' ')).not.toMatch(/the-command|the-value|--setenv/);
  });
});

describe('an opening', () => {
  it.each([
    ['/nowhere/at/all', 'does not exist'],
    ['/proc/self', 'link'],
    ['/dev/null', 'neither'],
    ['/', 'kernel'],
  ])('of %s is refused', async (path, why) => {
    await expect(bed.plan({ openings: [{ path, access: 'read' }] })).rejects.toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining(why),
    });
  });

  it('is named in the notes', async () => {
    const path = bed.file('people/dev/notes.txt');
    const { notes } = await bed.plan({ openings: [{ path, access: 'read' }] });
    expect(notes).toContain(`opened for this run: ${path} (read-only)`);
  });
});
