import type { StreamView } from '../types.ts';
import { decodeText, incompleteTail, strayStart } from './utf8-edge.ts';

/** Kept from the beginning and from the end of a stream. */
export const HEAD_BYTES = 64 * 1024;
export const TAIL_BYTES = 64 * 1024;

/** The first and the last 64 KiB of a stream of any length, in two fixed buffers: work per chunk doesn't grow with what came before. */
export interface Window {
  push(bytes: Uint8Array): void;
  readonly total: number;
  view(sha256: string | null): StreamView;
}

export function createWindow(): Window {
  let total = 0;
  let head: Buffer | undefined;
  let ring: Buffer | undefined;

  /** The ring in the order it was written; shorter than the ring until it is full. */
  const unrolled = (): Buffer => {
    const written = total - HEAD_BYTES;
    if (ring === undefined || written <= 0) return Buffer.alloc(0);
    if (written <= TAIL_BYTES) return ring.subarray(0, written);
    const at = written % TAIL_BYTES;
    return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]);
  };

  return {
    push(bytes) {
      let rest = bytes;
      if (total < HEAD_BYTES) {
        head ??= Buffer.allocUnsafeSlow(HEAD_BYTES);
        const taken = Math.min(rest.length, HEAD_BYTES - total);
        head.set(rest.subarray(0, taken), total);
        total += taken;
        rest = rest.subarray(taken);
      }
      if (rest.length === 0) return;
      ring ??= Buffer.allocUnsafeSlow(TAIL_BYTES);
      total += rest.length;
      // Only what can still be in the ring afterwards is copied: at most TAIL_BYTES, in at most two moves.
      if (rest.length > TAIL_BYTES) rest = rest.subarray(rest.length - TAIL_BYTES);
      const at = (total - HEAD_BYTES - rest.length) % TAIL_BYTES;
      const first = Math.min(rest.length, TAIL_BYTES - at);
      ring.set(rest.subarray(0, first), at);
      if (first < rest.length) ring.set(rest.subarray(first), 0);
    },
    get total() {
      return total;
    },
    view(sha256) {
      const start = head === undefined ? Buffer.alloc(0) : head.subarray(0, Math.min(total, HEAD_BYTES));
      const end = unrolled();
      if (total <= HEAD_BYTES + TAIL_BYTES) {
        return { head: decodeText(Buffer.concat([start, end])), tail: '', omitted_bytes: 0, total_bytes: total, sha256 };
      }
      const shownHead = start.subarray(0, start.length - incompleteTail(start));
      const shownTail = end.subarray(strayStart(end));
      return {
        head: decodeText(shownHead),
        tail: decodeText(shownTail),
        omitted_bytes: total - shownHead.length - shownTail.length,
        total_bytes: total,
        sha256,
      };
    },
  };
}
