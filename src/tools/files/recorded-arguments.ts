import { createHash } from 'node:crypto';

/** Content of files longer than this is not kept in the record of what was asked; its digest is. */
const MAX_RECORDED = 2048;

/** The arguments of a call, as given or wrong, with long texts told by their size and digest. */
export function recordedArguments(raw: unknown): unknown {
  if (typeof raw === 'string') {
    const bytes = Buffer.byteLength(raw);
    return bytes <= MAX_RECORDED ? raw : { bytes, sha256: createHash('sha256').update(raw).digest('hex') };
  }
  if (raw === null || typeof raw !== 'object') return raw;
  if (Array.isArray(raw)) return raw.map(recordedArguments);
  return Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, recordedArguments(value)]));
}
