import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ApprovalRecord } from '../../approvals/types.ts';
import { mintState, readState } from './request-state.ts';

let verified = 0;
const signer = {
  sign: (text: string) => createHmac('sha256', 'key').update(text).digest('base64url'),
  verify(text: string, signature: string) {
    verified++;
    return signer.sign(text) === signature;
  },
};
const bound = { owner: { organization: 'o', agent: 'a', run: 'r', workspace: '/w' }, tool: 'shell', arguments: { b: 1, a: [2] } };
const record = { id: 'appr_1', digest: 'sha256:1', expires_at: 2_000 } as ApprovalRecord;
const state = mintState(record, { mode: 'url', round: 2, asked_at: 1_000 }, bound, signer);

test('what was given out comes back, whatever the order of the arguments', () => {
  const again = { ...bound, arguments: { a: [2], b: 1 } };
  expect(readState(state, again, 1_999, signer)).toEqual({ ok: true, approval: 'appr_1', mode: 'url', round: 2, asked_at: 1_000 });
});

test('the same under another version, although signed, is none', () => {
  const other = `v2.${state.split('.')[1]}`;
  expect(readState(`${other}.${signer.sign(other)}`, bound, 1_000, signer)).toMatchObject({
    ok: false,
    reason: expect.stringContaining('version'),
  });
});

test('what is too long to be ours is not even looked at', () => {
  verified = 0;
  expect(readState(`${state}${'x'.repeat(3_000)}`, bound, 1_000, signer).ok).toBe(false);
  expect(verified).toBe(0);
});

test('arguments that have no canonical form are refused, not a fault', () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100; level++) deep = [deep];
  expect(readState(state, { ...bound, arguments: { deep } }, 1_000, signer)).toMatchObject({ ok: false });
});

test('no other text is ever good, and none is a fault', () => {
  const cuts = fc
    .tuple(fc.nat(state.length), fc.nat(state.length), fc.string())
    .map(([from, to, put]) => state.slice(0, from) + put + state.slice(to));
  fc.assert(
    fc.property(fc.oneof(cuts, fc.string({ unit: 'binary' })), (text) => {
      expect(readState(text, bound, 1_000, signer).ok).toBe(text === state);
    }),
  );
});
