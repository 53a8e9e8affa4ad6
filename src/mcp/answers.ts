import type { GateAnswer } from '../gate/types.ts';
import { type ErrorCode, errorEntry } from '../kernel/errors.ts';
import { failure, INTERNAL_ERROR, isObject, type Reply } from '../kernel/json-rpc/message.ts';
import type { ForeignResult } from '../tools/tool.ts';
import type { Features } from './revisions.ts';

/**
 * The one place where what the gate answers becomes what MCP says. Some hosts show a model only `structuredContent`
 * where there is one, and only the first text of an error, so what must be read is put there too.
 */

/** Where a tool result carries texts that are not about its own call ("job X ended"); added to every output schema that has the room. */
export const NOTICES = 'notices';

/** The caller's spelling is given back, but not megabytes of it. */
const MAX_NAME = 128;

/** In place of the text of an unforeseen error, which may hold anything; that goes to the log, which is redacted. */
export const UNEXPECTED = 'An unexpected fault in Writ; its log on stderr says more.';

export interface Refusal {
  readonly code: ErrorCode;
  /** What happened and why. */
  readonly message: string;
  readonly fix?: string | undefined;
  readonly guidance?: string | undefined;
  /** Absent when it was refused before the gate saw it. */
  readonly action?: string | undefined;
}

/** A GateAnswer as the reply to tools/call. `notices` go out with it and must not be offered again. */
export function toolReply(tool: string, answer: GateAnswer, features: Features, notices: readonly string[]): Reply {
  // A client that can't be given the question (it comes another way, as the result of the call) must not take silence for a yes.
  if (answer.type === 'input_required') return refusalReply(tool, unaskable(answer), features, notices);
  if (answer.type === 'refused') return refusalReply(tool, answer, features, notices);
  const told = [...answer.notes, ...notices];
  const { structured, text, images = [], foreign } = answer.output;
  if (foreign !== undefined) return foreignReply(foreign, told, features);
  const content = [
    ...[text, ...told].map((each) => ({ type: 'text', text: each })),
    ...images.map(({ data, mime_type }) => ({ type: 'image', data, mimeType: mime_type })),
  ];
  if (!features.structured) return { result: { content, isError: false } };
  const structuredContent = told.length > 0 && !Object.hasOwn(structured, NOTICES) ? { ...structured, [NOTICES]: told } : structured;
  return { result: { content, structuredContent, isError: false } };
}

/** The older revisions want an object in `structuredContent`; what is said in it is in the text as well. */
function foreignReply(
  { content, structured, is_error, meta, task }: ForeignResult,
  told: readonly string[],
  { foreignStructured }: Features,
): Reply {
  if (task !== undefined) return { result: { ...task, resultType: 'task' } };
  const fits = structured !== undefined && (foreignStructured === 'any' || (foreignStructured === 'object' && isObject(structured)));
  return {
    result: {
      content: [...content, ...told.map((each) => ({ type: 'text', text: each }))],
      ...(fits ? { structuredContent: structured } : {}),
      isError: is_error,
      ...(meta === undefined ? {} : { _meta: meta }),
    },
  };
}

function unaskable({ action }: GateAnswer): Refusal {
  return { code: 'no_channel', message: "This needs a person's yes, and this client can't be given the question.", action };
}

/** Whether the reply has a place for notices: a protocol error has none. */
export function carriesNotices(answer: GateAnswer, features: Features): boolean {
  return answer.type !== 'refused' || !isProtocolError(answer.code, features);
}

function isProtocolError(code: ErrorCode, features: Features): boolean {
  return errorEntry(code).rpc !== undefined && features.protocolErrors.includes(code);
}

/**
 * A refusal: a protocol error where the revision wants one, else a tool result that a model can act on. It has no structuredContent, since that
 * would have to fit the tool's output schema (the v1 SDK checks it on errors too).
 */
export function refusalReply(tool: string, refusal: Refusal, features: Features, notices: readonly string[]): Reply {
  const entry = errorEntry(refusal.code);
  const guidance = refusal.guidance ?? entry.guidance;
  const facts = {
    code: refusal.code,
    retryable: entry.retryable,
    ...(refusal.action ? { action: refusal.action } : {}),
  };
  if (entry.rpc !== undefined && features.protocolErrors.includes(refusal.code)) {
    return failure(entry.rpc, [refusal.message, refusal.fix, guidance].filter(Boolean).join(' '), facts);
  }
  const lines = [
    `${tool.slice(0, MAX_NAME).toWellFormed()}: ${refusal.code === 'approval_pending' ? 'not run yet' : 'refused'} (${refusal.code})`,
    `Why: ${refusal.message}`,
    refusal.fix === undefined ? '' : `What the user can do: ${refusal.fix}`,
    `What you should do: ${guidance}`,
    refusal.action ? `Reference: ${refusal.action}` : '',
    ...notices.map((notice) => `\n${notice}`),
  ];
  const text = lines.filter((line) => line !== '').join('\n');
  return { result: { content: [{ type: 'text', text }], isError: true, _meta: { 'writ/refusal': facts } } };
}

/** For methods other than tools/call, which have no tool result to put a refusal in. */
export function refusalError(refusal: Refusal): Reply {
  const { rpc = INTERNAL_ERROR, retryable } = errorEntry(refusal.code);
  return failure(rpc, [refusal.message, refusal.fix].filter(Boolean).join(' '), { code: refusal.code, retryable });
}
