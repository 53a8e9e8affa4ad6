import type { Readable } from 'node:stream';
import { AppError } from '../../kernel/errors.ts';

const MOST = 1024 * 1024;

/** All that comes until the end of the input. */
export async function readInput(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of input) {
    const piece = Buffer.from(chunk as Uint8Array);
    bytes += piece.length;
    if (bytes > MOST) throw new AppError('invalid_arguments', `More than ${MOST} bytes came on standard input.`);
    chunks.push(piece);
  }
  return Buffer.concat(chunks).toString('utf8');
}
