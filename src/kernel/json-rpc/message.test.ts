import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseMessage } from './message.ts';

const invalid = (code: number, id?: unknown): object => ({ kind: 'invalid', id, error: { code } });

test.each([
  ['{', invalid(-32700)],
  ['{"jsonrpc":"2.0","id":1,"method":"x"}\u0000', invalid(-32700)],
  ['nul', invalid(-32700)],
  ['"text"', invalid(-32600)],
  ['null', invalid(-32600)],
  ['7', invalid(-32600)],
  ['{}', invalid(-32600)],
  ['{"id":1,"method":"x"}', invalid(-32600, 1)],
  ['{"jsonrpc":2,"id":"a","method":"x"}', invalid(-32600, 'a')],
  ['{"jsonrpc":"2.0","id":1}', invalid(-32600, 1)],
  ['{"jsonrpc":"2.0","id":1,"method":7}', invalid(-32600, 1)],
  ['{"jsonrpc":"2.0","id":null,"method":"x"}', invalid(-32600)],
  ['{"jsonrpc":"2.0","id":1.5,"method":"x"}', invalid(-32600)],
  ['{"jsonrpc":"2.0","id":12345678901234567890,"method":"x"}', invalid(-32600)],
  ['{"jsonrpc":"2.0","id":1e999,"method":"x"}', invalid(-32600)],
  ['{"jsonrpc":"2.0","id":{},"method":"x"}', invalid(-32600)],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":"y"}', invalid(-32600, 1)],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":[]}', invalid(-32602, 1)],
  ['{"jsonrpc":"2.0","id":1,"method":"x","params":null}', { kind: 'request', id: 1, method: 'x', params: {} }],
  ['{"jsonrpc":"2.0","id":"1","method":"x"}', { kind: 'request', id: '1', method: 'x', params: {} }],
  ['{"jsonrpc":"2.0","method":"x","params":{"a":1}}', { kind: 'notification', method: 'x', params: { a: 1 } }],
  ['{"jsonrpc":"2.0","id":1,"result":null}', { kind: 'response', id: 1, result: null }],
  ['{"jsonrpc":"2.0","id":[],"error":null}', { kind: 'response', id: [], error: null }],
  ['[1]', { kind: 'batch', items: [1] }],
])('%s', (text, expected) => {
  expect(parseMessage(text)).toMatchObject(expected);
});

test('what is nested too deep is refused before it is built, with the id of the request; brackets in strings do not count', () => {
  const request = (params: string): string => `{"jsonrpc":"2.0","id":1,"method":"x","params":${params}}`;
  expect(parseMessage(request(`{"a":${'['.repeat(126)}${']'.repeat(126)}}`))).toMatchObject({ kind: 'request' });
  const deep = '['.repeat(127) + ']'.repeat(127);
  expect(parseMessage(request(`{"a":${deep}}`))).toMatchObject(invalid(-32600, 1));
  expect(parseMessage(`{"params":{"a":${deep},"b":[${deep}],"id":3},"method":"x","jsonrpc":"2.0","id":"2"}`)).toMatchObject(
    invalid(-32600, '2'),
  );
  expect(parseMessage(`{"jsonrpc":"2.0","id":"writ-1","result":{"a":${deep}}}`)).toMatchObject(invalid(-32600));
  expect(parseMessage(`[${request(`{"a":${deep}}`)}]`)).toMatchObject(invalid(-32600));
  expect(parseMessage(request(`{"a":${'['.repeat(127)}`))).toMatchObject(invalid(-32600));
  expect(parseMessage(request(`{"a":"\\"${'['.repeat(500)}"}`))).toMatchObject({ kind: 'request' });
  expect(parseMessage('['.repeat(5_000_000))).toMatchObject(invalid(-32600));
});

test('any text and any JSON value is told apart without a throw', () => {
  const kinds = ['request', 'notification', 'response', 'batch', 'invalid'];
  const check = (text: string): void => expect(kinds).toContain(parseMessage(text).kind);
  const text = fc.oneof(fc.string({ unit: 'binary' }), fc.json());
  fc.assert(fc.property(text, (each) => void check(each)));
  const member = fc.oneof(fc.jsonValue(), fc.constantFrom('2.0', 1, 'x', 'tools/call', '__proto__'));
  const message = fc.dictionary(fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', '__proto__'), member);
  fc.assert(fc.property(message, (value) => void check(JSON.stringify(value))));
});
