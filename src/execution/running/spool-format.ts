/**
 * A spool is two files in the folder of a run. `output.log`: the raw bytes of both streams in the order of arrival, cut only between
 * characters. `output.idx`: records of 8 bytes, little endian, `value * 4 + kind`, which say whose bytes those are.
 *
 * A data record holds the offset in the log where its stretch ends, so that stretches of one stream grow by rewriting one record in
 * place, and a reader finds a cursor by binary search. The log is written before the index: whoever reads both while they grow sees only
 * bytes that are there. Records after the data say what was left out and that nothing more will come.
 */
export const LOG_FILE = 'output.log';
export const INDEX_FILE = 'output.idx';
export const RECORD_BYTES = 8;

export const KIND = { stdout: 0, stderr: 1, dropped: 2, end: 3 } as const;
export type Kind = (typeof KIND)[keyof typeof KIND];

export interface SpoolRecord {
  readonly kind: number;
  /** stdout, stderr: end offset in the log. dropped, end: bytes that were not spooled. */
  readonly value: number;
}

export function encodeRecord(kind: Kind, value: number, into: Buffer): void {
  into.writeBigUInt64LE(BigInt(value) * 4n + BigInt(kind), 0);
}

export function decodeRecord(from: Buffer, index: number): SpoolRecord {
  const raw = from.readBigUInt64LE(index * RECORD_BYTES);
  return { kind: Number(raw & 3n), value: Number(raw >> 2n) };
}
