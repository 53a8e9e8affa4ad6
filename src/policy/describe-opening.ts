import { visible } from '../kernel/visible.ts';
import type { Opening } from './types.ts';

/** What a yes opens, in words for refusals and cards: "the network to example.com". */
export function describeOpening(opening: Opening): string {
  switch (opening.type) {
    case 'hosts': {
      const presets = opening.presets.map((preset) => `the hosts of ${preset}`);
      const named = [...opening.hosts, ...presets];
      return named.length === 0 ? 'no host yet: none is named in the command' : `the network to ${visible(named.join(', '))}`;
    }
    case 'path':
      return `${visible(opening.path)} for ${opening.access === 'read' ? 'reading' : 'reading and writing'}`;
    case 'uncontained':
      return `everything: the command would run without containment (${visible(opening.why)})`;
  }
}
