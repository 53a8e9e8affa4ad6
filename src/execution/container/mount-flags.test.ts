import { expect, it } from 'vitest';
import { mountFlags } from './mount-flags.ts';

it('binds keep their order, the last of equal places counts, and no name can say more than its own', () => {
  const bind = (source: string, dest: string, access: 'read' | 'write') => ({ kind: 'bind', source, dest, access }) as const;
  const flags = mountFlags([
    bind('/usr', '/usr', 'read'),
    { kind: 'proc', dest: '/proc' },
    bind('/w', '/w', 'write'),
    bind('/w/.git/hooks', '/w/.git/hooks', 'read'),
    bind('/w', '/w', 'read'),
    bind('/a,readonly=false,"b"', '/x', 'read'),
  ]);
  expect(flags).toEqual([
    '--mount=type=bind,source=/usr,destination=/usr,readonly',
    '--mount=type=bind,source=/w/.git/hooks,destination=/w/.git/hooks,readonly',
    '--mount=type=bind,source=/w,destination=/w,readonly',
    '--mount=type=bind,"source=/a,readonly=false,""b""",destination=/x,readonly',
  ]);
});
