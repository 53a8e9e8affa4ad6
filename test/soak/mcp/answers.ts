import { schemaOf } from '../../mcp/schema.ts';
import type { Findings } from '../kit/findings.ts';
import type { Due } from './due.ts';

type Message = Readonly<Record<string, unknown>>;

/** Reads what the server writes, line by line, and compares it at the end with what was due. */
export interface Answers {
  read(chunk: Buffer): void;
  /** After the end of the output. */
  compare(due: Due): void;
  /** Requests of the server to the client that came since the last time. */
  asked(): readonly Message[];
  /** Whether an answer with this id has come. */
  has(id: string): boolean;
  readonly lines: number;
}

const TOLD = new Set(['notifications/progress', 'notifications/cancelled', 'notifications/subscriptions/acknowledged']);
/** `UnsupportedProtocolVersion`, which only 2026-07-28 has. */
const UNSUPPORTED = -32022;
const ASKED = new Set(['roots/list']);

export function createAnswers(findings: Findings, session: string): Answers {
  const answered = new Map<unknown, Message[]>();
  let questions: Message[] = [];
  let withoutId = 0;
  let lines = 0;
  let rest = '';
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const wrong = (kind: string, detail: unknown): void => findings.add(kind, `${session}: ${JSON.stringify(detail)}`);

  function readLine(line: string): void {
    lines++;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      wrong('a line of output is no JSON', line);
      return;
    }
    if (!Array.isArray(value)) readMessage(value);
    else if (value.length === 0) wrong('an empty batch was sent', value);
    else value.forEach(readMessage);
  }

  function readMessage(value: unknown): void {
    const problem = messageProblem(value);
    const message = value as Message;
    if (problem !== undefined) wrong(problem, value);
    else if ('method' in message) {
      if ('id' in message) questions.push(message);
    } else if (message['id'] === undefined || message['id'] === null) withoutId++;
    else answered.set(message['id'], [...(answered.get(message['id']) ?? []), message]);
  }

  return {
    get lines() {
      return lines;
    },
    read(chunk) {
      rest += decoder.decode(chunk, { stream: true });
      const all = rest.split('\n');
      rest = all.pop() ?? '';
      all.forEach(readLine);
    },
    has: (id) => answered.has(id),
    asked() {
      const all = questions;
      questions = [];
      return all;
    },
    compare(due) {
      let strays = 0;
      const stray = (count: number, kind: string, detail: unknown): void => {
        strays += count;
        if (strays > due.brokenDeep) wrong(kind, detail);
      };
      if (rest !== '') wrong('the last line of output has no end', rest);
      for (const [id, methods] of due.answers) {
        const came = answered.get(id) ?? [];
        const least = due.unwanted.has(id) ? 0 : methods.length;
        if (came.length < least) wrong('a request was not answered', { id, methods, came: came.length });
        if (came.length > methods.length) stray(came.length - methods.length, 'a request was answered twice', { id, methods, came });
        const [method] = methods;
        if (methods.length === 1 && came.length === 1 && method !== undefined) checkSchema(method, came[0] ?? {}, due);
      }
      for (const [id, came] of answered) if (!due.answers.has(id as string)) stray(came.length, 'an answer to nothing', { id });
      if (withoutId + strays !== due.withoutId) wrong('errors without id', { due: due.withoutId, came: withoutId, strays });
    },
  };

  /** The official schema of the era that the answer belongs to. */
  function checkSchema(method: string, message: Message, due: Due): void {
    const result = message['result'] as Message | undefined;
    const modern = result === undefined ? (message['error'] as Message)['code'] === UNSUPPORTED : result['resultType'] !== undefined;
    const era = modern ? '2026-07-28' : (due.session ?? '2025-11-25');
    try {
      if (result === undefined) schemaOf(era).error(message);
      else schemaOf(era).result(method, message);
    } catch (error) {
      wrong('an answer that the schema forbids', error instanceof Error ? error.message : String(error));
    }
  }
}

function messageProblem(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'a message is no object';
  const { jsonrpc, id, method, result, error } = value as Message;
  if (jsonrpc !== '2.0') return 'a message has no version';
  if (method !== undefined) {
    return (id === undefined ? TOLD : ASKED).has(String(method)) && result === undefined && error === undefined
      ? undefined
      : 'a message that no client expects';
  }
  if ((result === undefined) === (error === undefined)) return 'a message has not one of result and error';
  if (result !== undefined) return typeof result === 'object' && id !== undefined && id !== null ? undefined : 'a result without id';
  const { code, message } = error as Message;
  return Number.isSafeInteger(code) && typeof message === 'string' ? undefined : 'an error without code or message';
}
