import type { RunSpec } from '../execution/types.ts';
import type { Decision } from '../policy/types.ts';

/** What a decision opens, in the words of execution: exactly that, and for one run. */
export function openedBy({ opens }: Decision): Pick<RunSpec, 'openings' | 'network'> {
  const hosts = new Set<string>();
  const presets = new Set<string>();
  for (const opening of opens) {
    if (opening.type !== 'hosts') continue;
    for (const host of opening.hosts) hosts.add(host);
    for (const preset of opening.presets) presets.add(preset);
  }
  return {
    openings: opens.filter((opening) => opening.type === 'path').map(({ path, access }) => ({ path, access })),
    ...(hosts.size + presets.size === 0 ? {} : { network: { hosts: [...hosts], presets: [...presets] } }),
  };
}
