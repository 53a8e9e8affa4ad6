import { connect, type Socket } from 'node:net';
import { AppError, ERRORS, type ErrorCode } from '../../kernel/errors.ts';
import { createLineDecoder } from '../../kernel/json-rpc/framing.ts';
import { isObject } from '../../kernel/json-rpc/message.ts';
import { parse } from './hello.ts';

/**
 * Between a command of the operator and the `writ up` of the same home, on the socket that relays come to: one line that asks, then lines
 * that answer. Whoever reaches the socket is this user: it lies in a folder that is 0700, and no contained run sees it.
 */
export interface Inquiry {
  /** Both ends must be the same program. */
  readonly version: string;
  /** What is asked. */
  readonly inquiry: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** One line of an answer; the last one is `done` or `error`. */
export type InquiryLine =
  | { readonly value: unknown }
  | { readonly done: true }
  | { readonly error: { readonly code: string; readonly message: string; readonly fix?: string } };

/** `ended`: it was there and has gone before it had said everything. */
export type Inquired = 'answered' | 'nobody' | 'ended';

const MAX_ANSWER_BYTES = 8 * 1024 * 1024;

export function parseInquiry(line: string): Inquiry | undefined {
  const value = parse(line);
  if (value === undefined) return undefined;
  const { version, inquiry, params } = value;
  if (typeof version !== 'string' || typeof inquiry !== 'string' || !isObject(params)) return undefined;
  return { version, inquiry, params };
}

/** Asks the `writ up` behind a socket. `told` gets each value as it comes; AppError where it was refused. */
export async function inquire(path: string, inquiry: Inquiry, told: (value: unknown) => void, signal: AbortSignal): Promise<Inquired> {
  const socket = await open(path);
  if (socket === undefined) return 'nobody';
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    return await new Promise<Inquired>((resolve, reject) => {
      const decoder = createLineDecoder(MAX_ANSWER_BYTES, (frame) => {
        const line = frame.type === 'line' ? parse(frame.text) : undefined;
        if (line === undefined) return reject(new AppError('internal', '`writ up` gave an answer that is none.'));
        if ('value' in line) told(line['value']);
        else if (line['done'] === true) resolve('answered');
        else reject(refusalOf(line['error']));
      });
      socket.on('data', (chunk: Uint8Array) => decoder.push(chunk));
      socket.on('error', () => resolve('ended'));
      socket.on('close', () => resolve('ended'));
      socket.write(`${JSON.stringify(inquiry)}\n`);
    });
  } finally {
    signal.removeEventListener('abort', end);
    socket.destroy();
  }
}

function open(path: string): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path);
    const failed = (): void => resolve(undefined);
    socket.once('error', failed);
    socket.once('connect', () => {
      socket.off('error', failed);
      resolve(socket);
    });
  });
}

function refusalOf(error: unknown): AppError {
  const { code, message, fix } = isObject(error) ? error : {};
  return new AppError(
    typeof code === 'string' && Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'internal',
    typeof message === 'string' ? message : '`writ up` refused without a word.',
    typeof fix === 'string' ? { fix } : {},
  );
}
