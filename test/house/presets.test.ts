import { expect, test } from 'vitest';
import { createAllowList } from '../../src/execution/network/allow-list.ts';
import { PRESETS } from '../../src/execution/network/presets.ts';
import { assessCommand } from '../../src/policy/index.ts';
import { PROGRAMS } from '../../src/policy/programs/index.ts';

/** Policy names presets and execution has their hosts: neither room may import the other, so that this is where they meet. */
const context = {
  cwd: '/home/dev/app',
  home: '/home/dev',
  workspaces: ['/home/dev/app'],
  facts: { realpath: (path: string) => path, which: () => undefined },
};

function presetsOf(command: string): readonly string[] {
  return assessCommand(command, context).findings.flatMap(({ opens }) => (opens?.type === 'hosts' ? opens.presets : []));
}

const VERBS = ['install x', 'add x', 'get x', 'run x', 'push', 'update'];

test('each preset that policy can name has hosts, or is the name of a program whose hosts only its user knows', () => {
  const named = new Set<string>();
  for (const program of PROGRAMS.keys()) {
    for (const preset of presetsOf(VERBS.map((verb) => `${program} ${verb}`).join('; '))) named.add(preset);
  }
  expect(named.size).toBeGreaterThan(20);
  const unknown = [...named].filter((preset) => !Object.hasOwn(PRESETS, preset) && !PROGRAMS.has(preset));
  expect(unknown).toEqual([]);
});

test('each host of a preset can be opened', () => {
  for (const [preset, hosts] of Object.entries(PRESETS)) {
    expect(createAllowList({ hosts: [], presets: [preset] }).problems, preset).toEqual(
      hosts.length === 0 ? [expect.stringContaining('no hosts are known')] : [],
    );
  }
});
