import { answeringGrants, approvalDigest, buildCard, commandDigest, fitsOnCard, offerGrants } from '../approvals/index.ts';
import type { ApprovalRecord, Approvals, AskedBy, Grants, Question, Taints } from '../approvals/types.ts';
import type { Owner } from '../execution/types.ts';
import { canonicalJson } from '../kernel/canonical-json.ts';
import { AppError } from '../kernel/errors.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import type { Assessment, Decision } from '../policy/types.ts';
import type { ShownCall } from '../tools/tool.ts';
import { askInCall } from './ask-in-call.ts';
import { deniedByHuman, forgedReply, notAsApproved, stillPending, takenElsewhere, unanswered } from './asked-outcomes.ts';
import { answerUnasked, type GatePolicy, unreachable } from './non-interactive.ts';
import { openedOrigins } from './origins.ts';
import type { Asker, GateRequest } from './types.ts';

/** How people are asked, and what they said before. */
export interface People {
  readonly approvals: Omit<Approvals, 'attend' | 'list' | 'close'>;
  readonly grants: Pick<Grants, 'active'>;
  readonly taints: Taints;
  /** How long a call waits where its own surface says nothing. */
  waitMs(owner: Owner): number;
  /** The process that asks where the call doesn't say, and the host that started it. */
  readonly asked_by: AskedBy;
  /** This process has a page where questions are answered. */
  readonly has_page: boolean;
}

export interface Judged {
  readonly assessment: Assessment;
  readonly policy: GatePolicy;
  readonly decision: Decision;
}

/** One call that policy would ask about. */
export interface AskedCall {
  readonly request: GateRequest;
  readonly action: string;
  readonly tool: string;
  /** As given, reserved ones removed. */
  readonly arguments: unknown;
  readonly shown: ShownCall;
  readonly judged: Judged;
  /** As policy and the machine are by now. */
  judgeAgain(): Promise<Judged | AppError>;
}

export type Permission =
  | {
      readonly type: 'go';
      /** What is opened is what was agreed to. */
      readonly decision: Decision;
      /** Who agreed, for the record. */
      readonly by?: Readonly<Record<string, unknown>>;
      /** Right before the dispatch: takes the yes, once for ever. */
      claim?(): Promise<AppError | undefined>;
    }
  | { readonly type: 'refused'; readonly error: AppError }
  | { readonly type: 'input_required'; readonly approval: ApprovalRecord };

export interface AskParts {
  readonly people: People;
  readonly redactor: Redactor;
  /** An answer that isn't one to this question. */
  recordForged(approval: string, reason: string): Promise<void>;
}

/**
 * From a `prompt` to a yes or a no: Grants first, then a person through whatever channel is open; where none is, what the operator
 * configured for that.
 */
export async function askPermission(call: AskedCall, parts: AskParts): Promise<Permission> {
  const { request, judged } = call;
  const { decision, policy } = judged;
  const { people } = parts;
  const origins = await people.taints.originsOf(request.owner.run);
  const granted = answeringGrants({
    assessment: judged.assessment,
    policy: policy.rules,
    decision,
    grants: await people.grants.active(request.owner),
    command_digest: commandOf(call).digest,
    tainted: isArmed(origins, openedOrigins(decision, request.workspaces)),
  });
  if (granted) return { type: 'go', decision, by: { grants: granted.map(({ id }) => id) } };
  if (!fitsOnCard(decision)) return refused(unreachable(decision, 'it would open more than a person can look through', people.has_page));

  const asking = { call, people, parts, digest: digestOf(call, judged) };
  if (request.reply) return takeReply(asking, request.reply);
  const asker = askerFor(decision, request.asker);
  if (asker === undefined && (await people.approvals.liveChannels()).length === 0) return unasked(judged, people);

  const { record, caller } = await people.approvals.open(questionOf(asking, origins));
  try {
    if (record.state !== 'pending') return await settle(asking, record);
    if (asker?.type === 'with_answer') return { type: 'input_required', approval: record };
    return await hold(asking, record, caller, asker);
  } finally {
    await people.approvals.leave(record.id, caller);
  }
}

/** What a host said doesn't arm the gate against that host: a Grant that stopped at its first use would be none. Any other origin does. */
function isArmed(origins: readonly string[], own: readonly string[]): boolean {
  // A page of it and what a command got from it are the same host.
  return origins.some((origin) => !own.includes(origin.replace(/^web:/, 'host:')));
}

interface Asking {
  readonly call: AskedCall;
  readonly people: People;
  readonly parts: AskParts;
  readonly digest: string;
}

type InCall = Extract<Asker, { type: 'in_call' }>;

/** Waits until somebody answers, the time is over or the call is cancelled. */
async function hold(asking: Asking, record: ApprovalRecord, caller: string, asker: InCall | undefined): Promise<Permission> {
  const { call, people } = asking;
  const { request, judged } = call;
  const { approvals } = people;
  request.progress(`waiting for a person's yes (${record.id})`);
  const over = new AbortController();
  const signal = AbortSignal.any([request.signal, over.signal]);
  const answered = approvals.wait(record.id, asker?.hold_ms ?? people.waitMs(request.owner), signal);
  answered.catch(() => {});
  let waiting = answered;
  try {
    if (asker) {
      const by = { channel: 'elicitation', who: request.client?.name ?? request.owner.agent } as const;
      const failed = await Promise.race([askInCall(asker, record, { approvals, by, signal }), answered.then(() => undefined)]);
      if (failed && !request.signal.aborted && (await approvals.liveChannels()).length === 0) {
        await approvals.withdraw(record.id, caller);
        return refused(unreachable(judged.decision, `the question did not reach a person (${failed.unreachable})`, people.has_page));
      }
      // A host that shows no question any more doesn't wait as long as for one.
      if (failed) waiting = approvals.wait(record.id, people.waitMs(request.owner), signal);
    }
    const after = await waiting;
    if (!request.signal.aborted)
      return after.state === 'pending' ? refused(stillPending(after, people.has_page)) : await settle(asking, after);
    await approvals.withdraw(record.id, caller);
    return refused(new AppError('cancelled', 'The request was cancelled while it waited for an answer.'));
  } finally {
    over.abort();
  }
}

/** An answer that came back with the call. It counts for the very question it was given to, and for nothing else. */
async function takeReply(asking: Asking, { approval, reply }: NonNullable<GateRequest['reply']>): Promise<Permission> {
  const { call, people, parts, digest } = asking;
  const { approvals } = people;
  const forged = async (reason: string): Promise<Permission> => {
    await parts.recordForged(approval, reason);
    return refused(forgedReply(reason));
  };
  const record = await approvals.get(approval);
  if (record === undefined) return forged('there is no such question');
  if (record.digest !== digest) return forged('it answers another call, or what this one would do has changed since');
  if (record.state === 'used') return forged('the yes was used already');
  if (record.state !== 'pending') return settle(asking, record);
  if ('unreachable' in reply) return unansweredReply(asking, record, reply.unreachable);
  const { request, judged } = call;
  const answered = await approvals.answer(approval, reply, { channel: 'elicitation', who: request.client?.name ?? request.owner.agent });
  if (answered.ok) return settle(asking, answered.record);
  switch (answered.reason) {
    case 'word':
      // The form is shown again, now with a field for the word.
      return request.asker?.type === 'with_answer'
        ? { type: 'input_required', approval: answered.record }
        : refused(unreachable(judged.decision, 'the word that the card asks for was not typed', people.has_page));
    case 'operator_only':
      return unansweredReply(asking, record, 'only the operator can say yes to this');
    case 'too_much':
    case 'not_found':
      return forged('it opens more than was asked for');
    case 'already_decided':
    case 'expired':
      return settle(asking, answered.record);
  }
}

async function unansweredReply(asking: Asking, record: ApprovalRecord, why: string): Promise<Permission> {
  const { approvals, taints } = asking.people;
  if ((await approvals.liveChannels()).length > 0) {
    // This call waits for it now, and counts as one that does.
    const joined = await approvals.open(questionOf(asking, await taints.originsOf(asking.call.request.owner.run)));
    try {
      return await hold(asking, joined.record, joined.caller, undefined);
    } finally {
      await approvals.leave(joined.record.id, joined.caller);
    }
  }
  await approvals.withdraw(record.id);
  return refused(unreachable(asking.call.judged.decision, `the question did not reach a person (${why})`, asking.people.has_page));
}

/** What was decided, told to the call. A yes counts only if the same call would still be the same question. */
async function settle({ call, people, digest }: Asking, record: ApprovalRecord): Promise<Permission> {
  const { approvals } = people;
  switch (record.state) {
    case 'approved': {
      const again = await call.judgeAgain();
      if (again instanceof AppError) return refused(again);
      if (digestOf(call, again) !== record.digest || record.digest !== digest) return refused(notAsApproved(record));
      return {
        type: 'go',
        decision: { ...again.decision, opens: record.opens ?? [] },
        by: { approval: record.id, decided_by: record.decided_by },
        claim: async () => ((await approvals.use(record.id, digest)) ? undefined : takenElsewhere(record)),
      };
    }
    case 'denied':
      await approvals.taken(record.id);
      return refused(deniedByHuman(record));
    case 'expired':
      await approvals.taken(record.id);
      return refused(unanswered(record, people.has_page));
    case 'used':
      return refused(takenElsewhere(record));
    case 'pending':
    case 'withdrawn':
      return refused(unreachable(call.judged.decision, 'the question was taken back', people.has_page));
  }
}

/** A host may answer a form by itself, so what only the operator may open is not asked there. */
function askerFor({ opens }: Decision, asker: Asker | undefined): Asker | undefined {
  if (asker?.page || !opens.some(({ type }) => type === 'uncontained')) return asker;
  return asker?.on_page;
}

function questionOf({ call, people, parts, digest }: Asking, origins: readonly string[]): Question {
  const { request, tool, shown, judged } = call;
  const { decision } = judged;
  const { owner, client } = request;
  const card = {
    tool,
    what: shown.what,
    cwd: shown.cwd,
    workspace: owner.workspace,
    agent: owner.agent,
    ...(client ? { client: `${client.name} ${client.version}` } : {}),
    ...(shown.description === undefined ? {} : { description: shown.description }),
    decision,
    origins,
    grants: offerGrants({ assessment: judged.assessment, decision, command: commandOf(call) }, parts.redactor),
  };
  return {
    owner,
    digest,
    card: buildCard(card, parts.redactor),
    offered: decision.opens,
    asked_by: request.askedBy?.() ?? people.asked_by,
    action: call.action,
  };
}

function digestOf({ request, tool, shown, ...call }: AskedCall, { assessment, policy, decision }: Judged): string {
  const { organization, agent } = request.owner;
  const { verdict, effects, opens } = decision;
  return approvalDigest({
    organization,
    agent,
    tool,
    arguments: call.arguments,
    cwd: shown.cwd,
    workspaces: request.workspaces,
    policy: canonicalJson(policy.rules),
    judged: { verdict, effects, opens },
    ...(assessment.incarnation === undefined ? {} : { incarnation: assessment.incarnation }),
  });
}

function commandOf({ request, tool, shown }: AskedCall): { readonly digest: string; readonly text: string } {
  const { what, cwd } = shown;
  return { digest: commandDigest({ tool, what, cwd, workspace: request.owner.workspace }), text: what };
}

function unasked({ decision, policy }: Judged, { has_page }: People): Permission {
  const error = answerUnasked(decision, policy.nonInteractive, has_page);
  return error ? refused(error) : { type: 'go', decision };
}

function refused(error: AppError): Permission {
  return { type: 'refused', error };
}
