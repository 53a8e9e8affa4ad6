import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createByteLines } from './byte-lines.ts';
import { parseHello } from './hello.ts';
import { createOpenRequests } from './open-requests.ts';

test('lines come whole and unchanged, however the bytes were cut; an overlong one comes in pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 40 })), fc.array(fc.nat(12)), fc.boolean(), (lines, cuts, open) => {
      const bytes = Buffer.from(lines.map((line) => `${line.replaceAll('\n', '')}\n`).join('') + (open ? 'rest' : ''));
      const got: { bytes: Buffer; whole: boolean }[] = [];
      const splitter = createByteLines(64, (line, whole) => got.push({ bytes: Buffer.from(line), whole }));
      let at = 0;
      for (const cut of cuts) {
        splitter.push(bytes.subarray(at, at + cut));
        at += cut;
      }
      splitter.push(bytes.subarray(at));
      splitter.end();
      expect(Buffer.concat(got.map((line) => line.bytes))).toEqual(bytes);
      for (const line of got) expect(line.bytes.indexOf(0x0a)).toBeOneOf([-1, line.bytes.length - 1]);
      const whole = got.filter((line) => line.whole && line.bytes.length > 0);
      const short = bytes
        .toString('latin1')
        .split('\n')
        .filter((line) => line.length <= 64 && line !== '');
      expect(whole.length).toBeGreaterThanOrEqual(short.length);
    }),
  );
});

test('what is open is known by id, twice when it was asked twice; the handshake can be shown again', () => {
  const requests = createOpenRequests();
  const line = (message: unknown): Buffer => Buffer.from(`${JSON.stringify(message)}\n`);
  expect(requests.handshake('x')).toEqual([]);
  requests.asked(line({ jsonrpc: '2.0', id: 0, method: 'initialize', params: { protocolVersion: '2025-11-25' } }));
  requests.answered(line({ jsonrpc: '2.0', id: 0, result: {} }));
  requests.asked(line({ jsonrpc: '2.0', method: 'notifications/initialized' }));
  for (const id of [1, '1', 1, 7]) requests.asked(line({ jsonrpc: '2.0', id, method: 'tools/call' }));
  requests.asked(Buffer.from('no JSON\n'));
  // An answer of the client to a question of the server is no request, and a question of the server is no answer.
  requests.asked(line({ jsonrpc: '2.0', id: 'writ-1', result: {} }));
  requests.answered(line({ jsonrpc: '2.0', id: 7, method: 'roots/list' }));
  requests.answered(line([{ jsonrpc: '2.0', id: 1, result: {} }]));
  expect(requests.ids()).toEqual([1, '1', 7]);
  requests.asked(line({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: '1' } }));
  requests.answered(line({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } }));
  expect(requests.ids()).toEqual([7]);
  expect(requests.handshake('again').map((text) => JSON.parse(text))).toMatchObject([
    { id: 'again', method: 'initialize', params: { protocolVersion: '2025-11-25' } },
    { method: 'notifications/initialized' },
  ]);
});

test.each([
  'x',
  '[]',
  '{}',
  '{"version":"1","pid":"1","toolset":"default","roots":[],"cwd":null,"env":{}}',
  '{"version":"1","pid":1,"toolset":"default","roots":[1],"cwd":null,"env":{}}',
  '{"version":"1","pid":1,"toolset":"default","roots":[],"cwd":"relative","env":{}}',
  '{"version":"1","pid":1,"toolset":"default","roots":[],"cwd":null,"env":{"A":1}}',
])('%s is no hello', (line) => expect(parseHello(line)).toBeUndefined());
