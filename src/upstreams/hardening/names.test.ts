import fc from 'fast-check';
import { expect, test } from 'vitest';
import { badName, exposedName, exposedPromptName, MAX_EXPOSED } from './names.ts';

const name = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/).filter((each) => badName(each) === undefined);

test('every exposed name is short, of the letters that hosts allow, and the same each time', () => {
  fc.assert(
    fc.property(fc.oneof(name, fc.constant('')), name, (prefix, tool) => {
      const exposed = exposedName(prefix, tool);
      expect(exposed).toMatch(/^[A-Za-z0-9_-]{1,45}$/);
      expect(exposed.startsWith(prefix.slice(0, 10).replace(/[_-]+$/, ''))).toBe(true);
      expect(exposedName(prefix, tool)).toBe(exposed);
    }),
  );
});

test('short names stay, long ones end in a hash of both names', () => {
  expect(exposedName('srv', 'get')).toBe('srv__get');
  expect(exposedName('', 'get')).toBe('get');
  expect(exposedName('s'.repeat(20), 't'.repeat(23))).toBe(`${'s'.repeat(20)}__${'t'.repeat(23)}`);
  const alias = exposedName('a_server_of_long_name', 'a_tool_whose_name_is_long_as_well');
  // Written out: an alias that changes with a new version of Writ breaks every toolset and Grant that names it.
  expect(alias).toBe('a_server_of_lo__a_tool_whose_name_is_fa7641eb');
  expect(alias.length).toBeLessThanOrEqual(MAX_EXPOSED);
  expect(exposedName('a_server_of_long_name', 'a_tool_whose_name_is_long_as_we11')).not.toBe(alias);
  expect(exposedName('a_server_of_long_nam2', 'a_tool_whose_name_is_long_as_well')).not.toBe(alias);
});

test('prompts may be called anything', () => {
  expect(exposedPromptName('srv', 'review')).toBe('srv__review');
  expect(exposedPromptName('srv', 'Code: review!')).toMatch(/^srv__Code_review_[0-9a-f]{8}$/);
  expect(exposedPromptName('srv', '检查')).toMatch(/^srv_+[0-9a-f]{8}$/);
  expect(exposedPromptName('srv', 'a b')).not.toBe(exposedPromptName('srv', 'a_b'));
});
