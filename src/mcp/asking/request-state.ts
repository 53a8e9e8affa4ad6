import { createHash } from 'node:crypto';
import type { ApprovalRecord } from '../../approvals/types.ts';
import type { Owner } from '../../execution/types.ts';
import { canonicalJson } from '../../kernel/canonical-json.ts';
import { isObject, type Members } from '../../kernel/json-rpc/message.ts';
import type { Signer } from '../types.ts';

/**
 * The `requestState` of 2026-07-28: what goes out with a question and comes back with its answer, through hands that may be anybody's. It is
 * signed and not secret, and good for one approval (which has its digest), one caller and one exact call until the approval's end. That it is good only once is
 * the approval's doing: it is taken once, for ever, in the database, whichever process is asked.
 *
 *     "v1." base64url(JSON) "." signature of everything before it
 */

/** The name of our only question among `inputRequests`, and of its answer among `inputResponses`. */
export const QUESTION = 'approval';

interface State {
  readonly approval: string;
  readonly mode: 'form' | 'url';
  /** How often the client was given the question by now, one call after the other. */
  readonly round: number;
  readonly asked_at: number;
}

export type ReadState =
  | ({ readonly ok: true } & State)
  /** In words for the record; the client is told less. */
  | { readonly ok: false; readonly reason: string };

/** Whose call it is, and which: nothing else may bring the answer. */
export interface Bound {
  readonly owner: Owner;
  readonly tool: string;
  readonly arguments: Members;
}

const VERSION = 'v1';
const MAX_STATE = 2_048;

export function mintState(
  record: ApprovalRecord,
  { mode, round, asked_at }: Omit<State, 'approval'>,
  bound: Bound,
  signer: Signer,
): string {
  const payload = { a: record.id, m: mode, n: round, t: asked_at, e: record.expires_at, b: digestOf(bound) };
  const body = `${VERSION}.${Buffer.from(JSON.stringify(payload)).toString('base64url')}`;
  return `${body}.${signer.sign(body)}`;
}

export function readState(text: string, bound: Bound, now: number, signer: Signer): ReadState {
  const at = text.lastIndexOf('.');
  const body = text.slice(0, at);
  if (text.length > MAX_STATE || at < 0 || !signer.verify(body, text.slice(at + 1)))
    return { ok: false, reason: 'its signature is not ours' };
  const payload = payloadOf(body);
  if (payload === undefined) return { ok: false, reason: 'it is of another version' };
  const { a: approval, m: mode, n: round, t: asked_at, e: expires_at, b: given_for } = payload;
  if (given_for === undefined || given_for !== digestOf(bound))
    return { ok: false, reason: 'it was given out for another call or to somebody else' };
  if (typeof approval !== 'string' || ![round, asked_at, expires_at].every((each) => typeof each === 'number')) {
    return { ok: false, reason: 'it is of another version' };
  }
  if (now >= Number(expires_at)) return { ok: false, reason: 'it has expired' };
  return { ok: true, approval, mode: mode === 'url' ? 'url' : 'form', round: Number(round), asked_at: Number(asked_at) };
}

/** Only ever of a body whose signature is good. */
function payloadOf(body: string): Members | undefined {
  const [version, encoded = ''] = body.split('.');
  if (version !== VERSION) return undefined;
  const payload: unknown = JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8'));
  return isObject(payload) ? payload : undefined;
}

/** Undefined for arguments without a canonical form, which no question was ever asked about. The Run is left out: over HTTP without sessions it ends with the process, and the question of a person who is still reading does not. */
function digestOf({ owner: { organization, agent, workspace }, tool, arguments: args }: Bound): string | undefined {
  try {
    return createHash('sha256').update(canonicalJson({ organization, agent, workspace, tool, args })).digest('base64url');
  } catch {
    return undefined;
  }
}
