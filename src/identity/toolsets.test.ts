import { expect, test } from 'vitest';
import { resolveToolset } from './index.ts';

const config = (toolsets: Record<string, readonly string[]>) => ({ tools: { toolsets } });

test('the default toolset is everything until somebody configures it', () => {
  for (const name of [undefined, 'default']) {
    const free = resolveToolset(name, config({}));
    expect(free.ok && free.toolset.tools).toBe('all');
    expect(free.ok && free.toolset.allows('anything')).toBe(true);
    const narrow = resolveToolset(name, config({ default: ['shell'] }));
    expect(narrow.ok && narrow.toolset.allows('shell')).toBe(true);
    expect(narrow.ok && narrow.toolset.allows('job_list')).toBe(false);
  }
});

test('hidden is denied: only what is named is allowed, to the letter', () => {
  const resolved = resolveToolset('small', config({ small: ['shell', 'read_file'], none: [] }));
  if (!resolved.ok) throw new Error(resolved.message);
  expect(['shell', 'read_file'].every(resolved.toolset.allows)).toBe(true);
  for (const other of ['Shell', 'shell ', 'shell_output', '', '__proto__', 'constructor', 'toString'])
    expect(resolved.toolset.allows(other)).toBe(false);
  const none = resolveToolset('none', config({ none: [] }));
  expect(none.ok && none.toolset.allows('shell')).toBe(false);
});

test('an unknown one is an error that names those there are', () => {
  for (const name of ['smal', '', 'constructor', '__proto__']) {
    expect(resolveToolset(name, config({ small: ['shell'] }))).toMatchObject({
      ok: false,
      message: expect.stringContaining('there are: default, small'),
    });
  }
});
