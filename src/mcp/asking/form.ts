import type { ApprovalRecord, Reply } from '../../approvals/types.ts';
import type { Unreachable } from '../../gate/types.ts';
import { isObject, type Members } from '../../kernel/json-rpc/message.ts';
import type { Features } from '../revisions.ts';

/** A question to a person as `elicitation/create` asks it, and what came back for it. The same in every era; only the way there differs. */

/** A no that comes sooner was said by a program. */
const FASTEST_PERSON_MS = 500;
const MAX_NOTE = 2_000;
const MAX_WORD = 100;

/**
 * Flat primitives only, as the specification wants it. There is no default: some clients fill those in without asking anybody. `text` is the
 * card as a person reads it.
 */
export function formParams({ card }: Pick<ApprovalRecord, 'card'>, text: string, features: Features): Members {
  const choices = [
    { const: 'approve', title: 'Approve this once' },
    { const: 'deny', title: 'Deny' },
  ];
  const decision = features.titledEnums
    ? { oneOf: choices }
    : { enum: choices.map((choice) => choice.const), enumNames: choices.map((choice) => choice.title) };
  const word = { type: 'string', title: 'Word', description: `To approve, type: ${card.word}`, maxLength: MAX_WORD };
  return {
    ...(features.elicitationModes ? { mode: 'form' } : {}),
    message: text,
    requestedSchema: {
      type: 'object',
      properties: {
        decision: { type: 'string', title: 'Decision', ...decision },
        note: { type: 'string', title: 'Note', description: 'For the agent to read; may stay empty', maxLength: MAX_NOTE },
        ...(card.word === undefined ? {} : { word }),
      },
      required: ['decision'],
    },
  };
}

/** A page to open in place of a form. */
export function urlParams(text: string, url: string): Members {
  return { mode: 'url', message: text, url };
}

/** The client's result, which is whatever the client likes, `after_ms` after it was asked. Only what can't be misread is an answer. */
export function readForm(result: unknown, after_ms: number): Reply | Unreachable {
  const action = isObject(result) ? result['action'] : undefined;
  if (action === 'cancel') return { unreachable: 'dismissed' };
  if (action === 'decline') return noBy(after_ms, {});
  if (action !== 'accept' || !isObject(result)) return { unreachable: 'the client answered with something that is no answer to a form' };
  const { content } = result;
  const { decision, note = '', word } = isObject(content) ? content : {};
  if (decision !== 'approve' && decision !== 'deny') return { unreachable: 'the client answered without a decision' };
  if (typeof note !== 'string' || (word !== undefined && typeof word !== 'string')) {
    return { unreachable: 'the client answered with fields of a wrong type' };
  }
  const said = note.trim() === '' ? {} : { note: cut(note.trim(), MAX_NOTE) };
  if (decision === 'deny') return noBy(after_ms, said);
  return { decision, ...said, ...(word === undefined ? {} : { word: word.slice(0, MAX_WORD).toWellFormed() }) };
}

function noBy(after_ms: number, said: { note?: string }): Reply | Unreachable {
  if (after_ms < FASTEST_PERSON_MS) return { unreachable: `refused within ${FASTEST_PERSON_MS} ms, sooner than a person reads` };
  return { decision: 'deny', ...said };
}

function cut(text: string, max: number): string {
  if (text.length <= max) return text.toWellFormed();
  return `${text.slice(0, max).toWellFormed()} [${text.length - max} more characters are left out]`;
}
