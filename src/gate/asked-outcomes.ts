import type { ApprovalRecord } from '../approvals/types.ts';
import { AppError } from '../kernel/errors.ts';
import { howToAnswer, howToBeAsked } from './ways-to-answer.ts';

/** What a call is told when the question it asked did not end in a yes for it. Each has a code of its own to the very end. */

export function stillPending({ id, expires_at, card }: ApprovalRecord, has_page: boolean): AppError {
  return new AppError(
    'approval_pending',
    `A person's yes is waited for (approval ${id}, open until ${clockTime(expires_at)}): ${card.reasons.slice(0, 4).join('; ')}.`,
    { fix: howToAnswer(id, has_page), data: { approval: id, expires_at } },
  );
}

export function deniedByHuman({ id, note, decided_by }: ApprovalRecord): AppError {
  const said = note === undefined ? '' : ` They say: ${note}`;
  return new AppError('denied_by_human', `A person said no (${decided_by?.channel ?? 'unknown channel'}, approval ${id}).${said}`, {
    data: { approval: id },
  });
}

export function unanswered({ id }: ApprovalRecord, has_page: boolean): AppError {
  return new AppError('expired_unanswered', `Nobody answered in time (approval ${id}).`, {
    fix: howToBeAsked(has_page),
    data: { approval: id },
  });
}

export function takenElsewhere({ id }: ApprovalRecord): AppError {
  return new AppError('busy', `The yes (approval ${id}) was used by an identical call or is over; it opens nothing a second time.`, {
    fix: 'If it is needed once more, the agent can ask again.',
    data: { approval: id },
  });
}

export function notAsApproved({ id }: ApprovalRecord): AppError {
  return new AppError(
    'backend_changed',
    `What would run is no longer what approval ${id} was given for: policy, the files it names or the server that would carry it out changed.`,
    {
      data: { approval: id },
    },
  );
}

export function forgedReply(reason: string): AppError {
  return new AppError('backend_changed', `The answer that came with this call does not count: ${reason}.`);
}

function clockTime(at: number): string {
  return `${new Date(at).toISOString().slice(11, 19)} UTC`;
}
