import { expect, test } from 'vitest';
import { createRedactor } from '../../kernel/redaction/index.ts';
import type { UpstreamSettings } from '../types.ts';
import { holdsMask, patched, sealed, switched, withDisabledTools } from './entry-edits.ts';
import { maskSettings } from './mask.ts';

test('switches say nothing where nothing is off', () => {
  expect(switched({ command: 'x', disabled: true }, true)).toEqual({ command: 'x' });
  expect(switched({ command: 'x', disabled: true }, false)).toEqual({ command: 'x', enabled: false });
  expect(withDisabledTools({ command: 'x', disabled_tools: ['a'] }, [])).toEqual({ command: 'x' });
  expect(withDisabledTools({ command: 'x' }, ['a', 'a'])).toEqual({ command: 'x', disabled_tools: ['a'] });
  expect(patched({ command: 'x', cwd: '/a', env: { A: '1' } }, { cwd: null, env: { B: '2' } })).toEqual({ command: 'x', env: { B: '2' } });
  const odd = patched({ cwd: '/a' }, JSON.parse('{ "__proto__": { "command": "x" } }'));
  expect([Object.keys(odd), odd['command']]).toEqual([['cwd', '__proto__'], undefined]);
});

test('secrets go out of variables and headers, references and ordinary values stay', () => {
  const { entry, secrets } = sealed('one', {
    env: { API_TOKEN: 'very-secret', LANG: 'C', OTHER_TOKEN: `\${OTHER_TOKEN}`, EMPTY_TOKEN: '' },
    headers: { Authorization: 'Bearer abc' },
  });
  expect(entry).toEqual({
    env: { API_TOKEN: `\${secret:one.API_TOKEN}`, LANG: 'C', OTHER_TOKEN: `\${OTHER_TOKEN}`, EMPTY_TOKEN: '' },
    headers: { Authorization: `\${secret:one.Authorization}` },
  });
  expect(secrets).toEqual({ 'one.API_TOKEN': 'very-secret', 'one.Authorization': 'Bearer abc' });
  // What is no object is for the check of the whole entry to refuse.
  expect(sealed('one', { env: ['A=b'] }).entry).toEqual({ env: ['A=b'] });
});

test.each([
  ['https://ann:pw@a.example/x?token=t&q=1', 'https://[redacted]@a.example/x?token=[redacted]&q=1'],
  ['https://ann@a.example/x', 'https://[redacted]@a.example/x'],
  [`https://a.example/\${HOST}?api_key=\${secret:x.KEY}`, `https://a.example/\${HOST}?api_key=\${secret:x.KEY}`],
  ['https://a.example/x?q=a@b', 'https://a.example/x?q=a@b'],
])('the address %s is shown as %s', (url, shown) => {
  const transport = { type: 'http', url, headers: { 'X-Api-Key': 'k', 'X-Plain': 'p' }, oauth: { client_secret: 's' } } as const;
  const masked = maskSettings({ transport } as unknown as UpstreamSettings, createRedactor());
  expect(masked.transport).toEqual({
    type: 'http',
    url: shown,
    headers: { 'X-Api-Key': '[redacted]', 'X-Plain': 'p' },
    oauth: { client_secret: '[redacted]' },
  });
});

test('a mask is no value', () => {
  expect(holdsMask({ env: { A: '[redacted]' } })).toBe(true);
  expect(holdsMask({ args: ['x=[redacted:token]'] })).toBe(true);
  expect(holdsMask({ env: { A: 'redacted' } })).toBe(false);
  expect(holdsMask(undefined)).toBe(false);
});
