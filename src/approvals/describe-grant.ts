import { visible } from '../kernel/visible.ts';
import type { GrantScope } from './types.ts';

/** What a Grant remembers, in words for lists and questions: "npm ci and whatever follows". */
export function describeGrant(scope: GrantScope): string {
  switch (scope.type) {
    case 'command':
      return `exactly this: ${visible(scope.text)}`;
    case 'program':
      return `${visible(scope.argv.join(' '))} and whatever follows`;
    case 'host':
      return `connections to ${visible(scope.host)}`;
    case 'path':
      return `${scope.access === 'write' ? 'reading and writing' : 'reading'} ${visible(scope.path)}`;
  }
}
