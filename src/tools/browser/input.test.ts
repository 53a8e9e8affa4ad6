import { expect, it } from 'vitest';
import { parseBrowserInput, recordedInput } from './input.ts';

it.each([
  [{ action: 'navigate', url: 'http://a.example/' }],
  [{ action: 'snapshot', offset: 2 }],
  [{ action: 'click', ref: 'f12e3' }],
  [{ action: 'type', ref: 'e1', text: '' }],
  [{ action: 'press', key: 'Enter' }],
  [{ action: 'close' }],
])('%j is a call', (call) => {
  expect(parseBrowserInput(call)).toMatchObject({ ok: true });
});

it.each([
  [{}, 'action'],
  [{ action: 'evaluate', text: '1' }, 'action'],
  [{ action: 'navigate' }, 'url'],
  [{ action: 'click' }, 'ref'],
  [{ action: 'click', ref: 'body' }, 'ref'],
  [{ action: 'click', ref: 'e1 >> xpath=//*' }, 'ref'],
  [{ action: 'type', ref: 'e1' }, 'text'],
  [{ action: 'close', url: 'http://a.example/' }, 'url'],
  [{ action: 'screenshot', path: '/etc/passwd' }, 'path'],
  [{ action: 'type', ref: 'e1', text: 'x'.repeat(20_001) }, 'text'],
])('%j is refused, naming %s', (call, name) => {
  expect(parseBrowserInput(call)).toMatchObject({ ok: false, problem: expect.stringContaining(name) });
});

it('what is typed is never recorded, whatever it is', () => {
  expect(recordedInput({ action: 'type', ref: 'e1', text: 'hunter2' })).toEqual({ action: 'type', ref: 'e1', text: '[7 characters]' });
  expect(JSON.stringify(recordedInput({ text: { deep: 'hunter2' } }))).not.toContain('hunter2');
  expect(recordedInput('no object')).toBe('no object');
});
