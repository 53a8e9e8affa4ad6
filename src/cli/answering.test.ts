import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { cardOf, OWNER, openTestHome, questionOf, type TestHome } from '../../test/helpers/approvals.ts';
import type { ApprovalRecord, Decider } from '../approvals/types.ts';
import { type AnswerParts, answerOne } from './answering.ts';
import { type Keyboard, QUIT } from './keyboard.ts';

const BY: Decider = { channel: 'terminal', who: 'me' };
const HOST = { type: 'host', host: 'example.com' } as const;

let place: TestHome;
let shown: string;
beforeAll(() => {
  place = openTestHome();
});
beforeEach(async () => {
  await place.forget();
  shown = '';
});
afterAll(() => place.dispose());

/** Hands that type these keys and lines, one each time they are asked; `undefined` waits for the signal. */
function hands(keys: readonly (string | undefined)[], lines: readonly string[] = []): Keyboard {
  const [key, line] = [[...keys], [...lines]];
  let first = true;
  return {
    isTerminal: true,
    key: async (signal) => {
      // The time to read: whatever is typed in it is dropped.
      if (first) {
        first = false;
        return 'y';
      }
      const next = key.shift();
      if (next !== undefined) return next;
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      });
      return undefined;
    },
    line: async (prompt) => {
      shown += prompt;
      return line.shift();
    },
    close: () => {},
  };
}

function partsWith(keyboard: Keyboard): AnswerParts {
  const { approvals, grants } = place.another();
  const out = (text: string): void => {
    shown += text;
  };
  return {
    approvals,
    grants,
    keyboard,
    by: BY,
    remember_ms: 8 * 3_600_000,
    now: () => place.time.now(),
    terminal: { out, err: out, exit: () => {} },
  };
}

async function ask(more: Parameters<typeof cardOf>[0] = {}): Promise<ApprovalRecord> {
  const { record } = await place.another().approvals.open(questionOf({ digest: `sha256:${Math.random()}`, card: cardOf(more) }));
  return record;
}

const never = new AbortController().signal;
const stateOf = async ({ id }: ApprovalRecord) => (await place.another().approvals.get(id))?.state;

describe('one question in a terminal', () => {
  test('y: shown whole first, approved once, and nothing is remembered', async () => {
    const record = await ask({ grants: [HOST] });
    expect(await answerOne(record, partsWith(hands(['x', 'y'])), never)).toBe('answered');
    expect(shown.indexOf('curl https://example.com')).toBeLessThan(shown.indexOf('y yes, once'));
    expect([await stateOf(record), await place.another().grants.list()]).toEqual(['approved', []]);
  });

  test('what was typed before it could be read decides nothing', async () => {
    const record = await ask();
    expect(await answerOne(record, partsWith(hands([QUIT])), never)).toBe('quit');
    expect(await stateOf(record)).toBe('pending');
  });

  test('n: denied with the note', async () => {
    const record = await ask();
    await answerOne(record, partsWith(hands(['n'], ['use the mirror'])), never);
    expect(await place.another().approvals.get(record.id)).toMatchObject({ state: 'denied', note: 'use the mirror', decided_by: BY });
  });

  test('g: approved and remembered as chosen; a number that is none remembers nothing', async () => {
    const record = await ask({ grants: [HOST] });
    await answerOne(record, partsWith(hands(['g'], ['1'])), never);
    expect(await place.another().grants.active(OWNER)).toMatchObject([{ scope: HOST }]);
    expect(shown).toContain('writ grants revoke grt_');
    const other = await ask({ grants: [HOST] });
    await answerOne(other, partsWith(hands(['g'], ['7'])), never);
    expect([await stateOf(other), (await place.another().grants.list()).length]).toEqual(['approved', 1]);
  });

  test.each(['n', 'g'])('%s and then Ctrl-C decides nothing', async (key) => {
    const record = await ask({ grants: [HOST] });
    expect(await answerOne(record, partsWith(hands([key])), never)).toBe('skipped');
    expect(await stateOf(record)).toBe('pending');
  });

  test('g is no key where nothing is offered; s leaves it open', async () => {
    const record = await ask();
    expect(await answerOne(record, partsWith(hands(['g', 's'])), never)).toBe('skipped');
    expect(shown).not.toContain('remember');
    expect(await stateOf(record)).toBe('pending');
  });

  test('the word, asked for once it is due; another word leaves it open', async () => {
    const grave = { effects: ['persistence'], opens: [] } as const;
    const [first, second, third] = [await ask(grave), await ask(grave), await ask(grave)];
    await answerOne(first, partsWith(hands(['y'])), never);
    expect(await answerOne(second, partsWith(hands(['y'], ['yes'])), never)).toBe('skipped');
    expect(await answerOne(third, partsWith(hands(['y'], ['persist'])), never)).toBe('answered');
    expect([await stateOf(second), await stateOf(third)]).toEqual(['pending', 'approved']);
  });

  test('somebody else was first: it says who, and waits for no key', async () => {
    const record = await ask();
    const answering = answerOne(record, partsWith(hands([undefined])), never);
    await place.another().approvals.answer(record.id, { decision: 'deny' }, { channel: 'page', who: 'ann\u202e' });
    expect(await answering).toBe('answered');
    expect(shown).toContain('Over: denied by ann\\u{202e} (page)');
  });
});
