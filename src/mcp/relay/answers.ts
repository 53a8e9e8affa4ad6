import type { Socket } from 'node:net';
import { AppError, toAppError } from '../../kernel/errors.ts';
import type { Inquiry, InquiryLine } from './inquiry.ts';

export interface AnswerParts {
  readonly version: string;
  /** Answers a command of this user, until it resolves or the signal says that nobody listens any more; an AppError is the refusal. */
  answer(inquiry: Inquiry, say: (value: unknown) => void, signal: AbortSignal): Promise<void>;
}

export interface Answers {
  /** Never rejects. */
  give(inquiry: Inquiry, socket: Socket): Promise<void>;
  close(): void;
}

/** Of an answer that its command doesn't take; beyond it the connection is cut. */
const MAX_UNREAD_BYTES = 1024 * 1024;

/** Gives the answers to what commands ask of a process that serves agents. */
export function createAnswers({ version, answer }: AnswerParts): Answers {
  /** Bounded by the connections. */
  const giving = new Set<AbortController>();
  return {
    async give(inquiry, socket) {
      const over = new AbortController();
      const say = (line: InquiryLine): void => {
        if (socket.destroyed) return;
        socket.write(`${JSON.stringify(line)}\n`);
        if (socket.writableLength > MAX_UNREAD_BYTES) socket.destroy();
      };
      giving.add(over);
      socket.on('close', () => over.abort()).on('end', () => over.abort());
      socket.resume();
      try {
        if (inquiry.version !== version) {
          throw new AppError('config_invalid', `The running Writ is version ${version}, this command is ${inquiry.version}.`);
        }
        await answer(inquiry, (value) => say({ value }), over.signal);
        say({ done: true });
      } catch (thrown) {
        const { code, message, fix } = toAppError(thrown);
        say({ error: { code, message, ...(fix === undefined ? {} : { fix }) } });
      } finally {
        giving.delete(over);
        socket.end();
      }
    },
    close() {
      for (const over of giving) over.abort();
    },
  };
}
