import {
  type ApprovalRecord,
  type Approvals,
  cardText,
  type Decider,
  describeGrant,
  type GrantScope,
  type Grants,
  type Reply,
} from '../approvals/index.ts';
import { AppError } from '../kernel/errors.ts';
import { visible } from '../kernel/visible.ts';
import type { Terminal } from './app.ts';
import { type Keyboard, QUIT } from './keyboard.ts';

/** What answering in a terminal needs. */
export interface AnswerParts {
  readonly approvals: Approvals;
  readonly grants: Grants;
  readonly keyboard: Keyboard;
  readonly terminal: Terminal;
  readonly by: Decider;
  /** Life of a Grant, in ms. */
  readonly remember_ms: number;
  now(): number;
}

/** Too soon for somebody who reads: what is typed until then was meant for something else. */
const READ_MS = 400;

const OTHER = 'answered elsewhere';

export type Ended = 'answered' | 'skipped' | 'quit';

/** Shows one question whole and takes the answer, one key each. Ends by itself when somebody else was first. */
export async function answerOne(record: ApprovalRecord, parts: AnswerParts, signal: AbortSignal): Promise<Ended> {
  const { approvals, keyboard, terminal } = parts;
  // The bell: whoever looks elsewhere is called.
  terminal.out(`\u0007\n${cardText(record, parts.now())}\n`);
  const over = new AbortController();
  const both = AbortSignal.any([signal, over.signal]);
  const elsewhere = approvals.wait(record.id, Math.max(0, record.expires_at - parts.now()), both).then((after) => {
    if (after.state !== 'pending') over.abort(OTHER);
  });
  elsewhere.catch(() => {});
  try {
    await keyboard.key(AbortSignal.any([both, AbortSignal.timeout(READ_MS)]));
    const offered = record.card.grants.length > 0 ? ', g yes and remember' : '';
    terminal.out(`  y yes, once${offered}, n no, s later, q quit: `);
    for (;;) {
      const key = await keyboard.key(both);
      if (key === undefined) return await sayElsewhere(record, parts);
      if (key === QUIT || key === 'q') return 'quit';
      const answered = await onKey(key, record, parts);
      if (answered !== undefined) return answered;
    }
  } finally {
    over.abort();
  }
}

async function onKey(key: string, record: ApprovalRecord, parts: AnswerParts): Promise<Ended | undefined> {
  const { terminal, keyboard } = parts;
  if (key === 'y') {
    terminal.out('yes\n');
    return sendReply(record, { decision: 'approve' }, parts);
  }
  if (key === 'n') {
    terminal.out('no\n');
    const note = await keyboard.line('  A note for the agent (Enter for none): ');
    if (note === undefined) return leftOpen(parts);
    return sendReply(record, { decision: 'deny', ...(note ? { note } : {}) }, parts);
  }
  if (key === 's') {
    terminal.out('later\n');
    return 'skipped';
  }
  if (key !== 'g' || record.card.grants.length === 0) return undefined;
  terminal.out(`yes, and remember for ${hours(parts.remember_ms)}:\n`);
  record.card.grants.forEach((scope, index) => void terminal.out(`    ${index + 1}  ${describeGrant(scope)}\n`));
  const which = await keyboard.line('  Which one (Enter for none of them: yes, once)? ');
  if (which === undefined) return leftOpen(parts);
  return sendReply(record, { decision: 'approve' }, parts, record.card.grants[Number(which) - 1]);
}

/** A word that is missing is asked for. The answer stands or it doesn't: what became of it is said either way. */
export async function sendReply(record: ApprovalRecord, reply: Reply, parts: AnswerParts, scope?: GrantScope): Promise<Ended> {
  const { approvals, grants, keyboard, terminal, by } = parts;
  const ask = async (word: string): Promise<string | undefined> =>
    keyboard.line(`  Something of this weight was approved a moment ago. Type "${word}" to approve this too: `);
  const typed = reply.decision === 'approve' && record.card.word !== undefined ? await ask(record.card.word) : undefined;
  let answered = await approvals.answer(record.id, typed === undefined ? reply : { ...reply, word: typed }, by);
  if (!answered.ok && answered.reason === 'word' && typed === undefined && answered.record.card.word !== undefined) {
    const word = await ask(answered.record.card.word);
    if (word !== undefined) answered = await approvals.answer(record.id, { ...reply, word }, by);
  }
  if (answered.ok) {
    terminal.out(answered.record.state === 'approved' ? '  Approved, once.\n' : '  Denied.\n');
    if (scope === undefined) return 'answered';
    const grant = await grants.make(answered.record, scope, parts.remember_ms, by);
    terminal.out(`  Remembered as ${grant.id}: ${describeGrant(grant.scope)}. \`writ grants revoke ${grant.id}\` ends it.\n`);
    return 'answered';
  }
  switch (answered.reason) {
    case 'word':
      terminal.out('  That is not the word: it stays open.\n');
      return 'skipped';
    case 'too_much':
      throw new AppError('invalid_arguments', 'That would open more than was asked for.');
    case 'operator_only':
    case 'not_found':
      throw new AppError('not_found', `There is no question ${record.id} that can be answered here.`);
    case 'already_decided':
    case 'expired':
      return sayElsewhere(record, parts);
  }
}

function hours(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${minutes} min`;
}

/** Ctrl-C in the middle of an answer. */
function leftOpen({ terminal }: AnswerParts): Ended {
  terminal.out('  Nothing was decided: it stays open.\n');
  return 'skipped';
}

async function sayElsewhere({ id }: ApprovalRecord, { approvals, terminal }: AnswerParts): Promise<Ended> {
  const now = await approvals.get(id);
  const by = now?.decided_by ? ` by ${visible(now.decided_by.who)} (${now.decided_by.channel})` : '';
  terminal.out(`\n  Over: ${now?.state ?? 'gone'}${by}.\n`);
  return 'answered';
}
