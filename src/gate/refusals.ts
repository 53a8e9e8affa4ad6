import { AppError, errorEntry } from '../kernel/errors.ts';
import type { ActionId } from '../kernel/ids.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import type { Decision } from '../policy/types.ts';
import type { GateAnswer } from './types.ts';

type Refused = Extract<GateAnswer, { type: 'refused' }>;

export function forgedAnswer(why: string): AppError {
  return new AppError('invalid_arguments', `The answer that came with the call can't be used: ${why}.`, { data: { forged: true } });
}

export function denied(decision: Decision): AppError {
  const first = decision.findings[0];
  const rule =
    decision.rule?.list === 'deny'
      ? ` by the rule [${decision.rule.argv.join(' ')}]${decision.rule.reason ? ` (${decision.rule.reason})` : ''}`
      : '';
  const why = first ? `${first.reason} [${first.effect}]` : 'it is on the floor that nothing lifts';
  return new AppError('denied_by_policy', `Denied${rule}: ${why}.`, { data: { effects: decision.effects } });
}

/** Texts of exceptions nobody foresaw may hold anything and help no model; they are in the log and, redacted, in the record. */
const UNFORESEEN = 'An unexpected fault in Writ; its log on stderr says more.';

function isUnforeseen(error: AppError): boolean {
  return error.code === 'internal' && error.cause !== undefined;
}

export function refusal(action: ActionId, error: AppError, decision?: Decision): Refused {
  return {
    type: 'refused',
    action,
    code: error.code,
    message: isUnforeseen(error) ? UNFORESEEN : error.message,
    ...(error.fix === undefined ? {} : { fix: error.fix }),
    guidance: errorEntry(error.code).guidance,
    ...(decision ? { decision } : {}),
  };
}

export function redactRefusal(answer: Refused, redactor: Redactor): Refused {
  return { ...answer, message: redactor.text(answer.message), ...(answer.fix === undefined ? {} : { fix: redactor.text(answer.fix) }) };
}
