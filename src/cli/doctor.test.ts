import { expect, test } from 'vitest';
import { renderPrograms } from './doctor.ts';

test('what is used beside containment is named where it is, and how to get it where it is not', () => {
  const text = renderPrograms([
    { name: 'ripgrep', used_for: 'the tool search_files', path: '/usr/bin/rg', fix: 'unused' },
    { name: 'Chromium', used_for: 'the tool browser', fix: 'Install it: `apt-get install chromium`.' },
  ]);
  expect(text).toBe(`Beside it:
  found     ripgrep: /usr/bin/rg (for the tool search_files)
  not found Chromium (for the tool browser). Install it: \`apt-get install chromium\`.`);
});
