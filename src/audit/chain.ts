import { hash } from 'node:crypto';

/** What stands before the first row of a chain. */
export const GENESIS = new Uint8Array(32);

/** The type of row 0 of every chain. It says whose chain it is, so that rows can't be passed off as another chain's. */
export const OPENED = 'chain.opened';

/** SHA-256 over the hash of the row before and this row's bytes exactly as stored: 32 bytes. */
export function rowHash(previous: Uint8Array, bytes: string): Uint8Array {
  const both = Buffer.allocUnsafe(previous.length + Buffer.byteLength(bytes));
  both.set(previous);
  both.write(bytes, previous.length, 'utf8');
  return hash('sha256', both, 'buffer');
}

export function sha256Hex(text: string): string {
  return hash('sha256', text, 'hex');
}

export function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

export function sameHash(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.compare(one, other) === 0;
}
