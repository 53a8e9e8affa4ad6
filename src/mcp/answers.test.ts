import { describe, expect, test } from 'vitest';
import { ERRORS, type ErrorCode, errorEntry } from '../kernel/errors.ts';
import { carriesNotices, refusalReply, toolReply } from './answers.ts';
import { featuresOf, SUPPORTED_REVISIONS } from './revisions.ts';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const MAY_BE_PROTOCOL: readonly ErrorCode[] = ['unknown_tool', 'invalid_arguments', 'internal'];

describe.each(SUPPORTED_REVISIONS)('%s', (revision) => {
  const features = featuresOf(revision);

  test.each(CODES)('%s says what, why, what to do and what the user can do', (code) => {
    const { guidance, retryable, rpc } = errorEntry(code);
    const refusal = { type: 'refused', action: 'act_9', code, message: 'It is so.', fix: 'Mend it.', guidance } as const;
    const reply = toolReply('shell', refusal, features, []);
    const facts = { code, retryable, action: 'act_9' };
    if ('error' in reply) {
      expect(MAY_BE_PROTOCOL).toContain(code);
      expect(reply.error).toEqual({ code: rpc, message: `It is so. Mend it. ${guidance}`, data: facts });
      expect(carriesNotices(refusal, features)).toBe(false);
      return;
    }
    expect(carriesNotices(refusal, features)).toBe(true);
    expect(reply.result).toEqual({
      content: [
        {
          type: 'text',
          text: `shell: ${code === 'approval_pending' ? 'not run yet' : 'refused'} (${code})\nWhy: It is so.\nWhat the user can do: Mend it.\nWhat you should do: ${guidance}\nReference: act_9`,
        },
      ],
      isError: true,
      _meta: { 'writ/refusal': facts },
    });
  });

  test('unknown tools and faults of ours are protocol errors, bad arguments only before 2025-11-25', () => {
    const kinds = MAY_BE_PROTOCOL.map((code) => 'error' in refusalReply('x', { code, message: '' }, features, []));
    expect(kinds).toEqual([true, revision < '2025-11-25', true]);
  });
});
