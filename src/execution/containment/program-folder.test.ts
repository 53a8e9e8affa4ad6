import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ChannelProfile } from '../core-types.ts';
import { createPlanner } from './planner.ts';
import { programFolders } from './program-folder.ts';
import { type Bed, makeBed } from './testing.ts';

let bed: Bed;
beforeAll(() => {
  bed = makeBed();
});
afterAll(() => bed.remove());

describe('what a program needs beside it', () => {
  it.each([
    ['its outermost node_modules', 'apps/node_modules/.pnpm/x@1/node_modules/x/bin.js', [], ['apps/node_modules']],
    ['the root of its package', 'code/tool/dist/deep/index.js', ['code/tool/package.json'], ['code/tool', 'code/tool/dist/deep', 0]],
    ['the nearest root', 'mono/packages/a/index.js', ['mono/package.json', 'mono/packages/a/package.json'], ['mono/packages/a', 0, 0]],
    ['its folder', 'share/thing/server', [], ['share/thing', 0]],
    ['nothing, right in a folder of the home', 'Downloads/server.py', [], [0]],
    ['nothing, right in the home, whatever lies there', 'server.py', ['package.json'], [0]],
  ])('%s', (_, program, marks, expected) => {
    const home = bed.folder(`homes/${program.replaceAll('/', '-')}`);
    const path = bed.file(join(home, program));
    for (const mark of marks) bed.file(join(home, mark));
    const found = programFolders(path, home);
    // 0: the one before it again, or the file itself.
    const wanted = expected.filter((one) => one !== 0).map((one) => join(home, String(one)));
    expect(found.slice(0, wanted.length)).toEqual(wanted);
    expect(found.at(-1)).toBe(program.includes('node_modules') ? wanted[0] : path);
    expect(found).not.toContain(home);
  });
});

describe('a package', () => {
  const profile = (programs: readonly string[]): ChannelProfile => ({
    name: 'x',
    env: { PATH: '/usr/bin' },
    programs,
    host_network: false,
    unix_sockets: [],
    shared_memory: false,
  });

  it('is bound for reading, and what is mounted must be what was planned', async () => {
    const program = bed.file('people/dev/pkg/main.js', '', 0o755);
    bed.file('people/dev/pkg/package.json', '{}');
    const root = join(bed.user_home, 'pkg');
    const plan = await createPlanner(bed.config)(bed.spec({ workspaces: [], cwd: '' }), false, profile([program]));
    const at = plan.args.indexOf(root);
    expect(plan.args[at - 1]).toBe('--ro-bind-try');
    expect(plan.expect?.map(({ path }) => path)).toContain(root);
  });

  it('of a repository of many brings the modules that lie further out, and nothing else of it', async () => {
    const program = bed.file('people/dev/many/packages/one/main.js', '', 0o755);
    for (const path of ['package.json', 'packages/one/package.json', 'node_modules/dep/index.js', 'packages/two/package.json']) {
      bed.file(join(bed.user_home, 'many', path), '{}');
    }
    const { args } = await createPlanner(bed.config)(bed.spec({ workspaces: [], cwd: '' }), false, profile([program]));
    const bound = args.filter((_, index) => args[index - 1] === '--ro-bind-try' && args[index]?.startsWith(bed.user_home));
    expect(bound.toSorted()).toEqual([join(bed.user_home, 'many/node_modules'), join(bed.user_home, 'many/packages/one')]);
  });

  it('may hold a root that is for writing', async () => {
    const program = bed.file('people/dev/own/main.js', '', 0o755);
    bed.file('people/dev/own/package.json', '{}');
    const data = bed.folder('people/dev/own/data');
    const spec = bed.spec({ workspaces: [{ path: data, access: 'write' }], cwd: '' });
    const { args } = await createPlanner(bed.config)(spec, false, profile([program]));
    expect(args[args.indexOf(join(bed.user_home, 'own')) - 1]).toBe('--ro-bind-try');
    expect(args.lastIndexOf(data)).toBeGreaterThan(args.indexOf(join(bed.user_home, 'own')));
    expect(args[args.indexOf(data) - 1]).toBe('--bind');
  });

  it('never holds what is secret', async () => {
    for (const path of ['.config/tool/main.js', '.ssh/main.js', '.writ/main.js']) {
      const program = bed.file(join(bed.user_home, path), '', 0o755);
      const planned = createPlanner(bed.config)(bed.spec({ workspaces: [], cwd: '' }), false, profile([program]));
      await expect(planned).rejects.toMatchObject({ code: 'not_found' });
    }
  });
});
