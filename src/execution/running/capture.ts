import { createHash, type Hash } from 'node:crypto';
import type { OutputView } from '../types.ts';
import type { SpoolWriter } from './spool-writer.ts';
import { incompleteTail } from './utf8-edge.ts';
import { createWindow } from './window.ts';

/** The read buffer keeps this much room in front, where the start of a character that came with the chunk before is put back. */
export const HEADROOM = 4;

export type StreamName = 'stdout' | 'stderr';

/** What a run wrote: counted and digested whole, kept at both ends, spooled up to a quota. Work and memory per chunk are constant. */
export interface Capture {
  /**
   * `buffer[HEADROOM .. HEADROOM + length)` has just been read from that stream; the bytes in front may be overwritten. The buffer
   * belongs to the caller again when this returns.
   */
  chunk(stream: StreamName, buffer: Buffer, length: number): void;
  view(): OutputView;
  readonly total: number;
  /** Lets go of held bytes and closes the spool; `view` then carries digests. */
  end(): void;
}

interface Lane {
  readonly window: ReturnType<typeof createWindow>;
  /** The start of a character whose rest hasn't come yet. */
  held: Buffer;
  hash: Hash | undefined;
  total: number;
  sha256: string | null;
}

/**
 * Bytes of a character that was cut by the pipe wait (at most three of them) for the rest, so that the combined order and the spool
 * never get a piece of the other stream into the middle of it.
 */
export function createCapture(spool: SpoolWriter): Capture {
  const lane = (): Lane => ({ window: createWindow(), held: Buffer.alloc(0), hash: undefined, total: 0, sha256: null });
  const lanes: Readonly<Record<StreamName, Lane>> = { stdout: lane(), stderr: lane() };
  const combined = createWindow();
  // As long as only one stream has written, the digest of both is its digest; only afterwards is there a second one to feed.
  let combinedHash: Hash | undefined;
  let combinedSha256: string | null = null;
  let ended = false;

  const digest = (stream: StreamName, bytes: Uint8Array): void => {
    const one = lanes[stream];
    const other = lanes[stream === 'stdout' ? 'stderr' : 'stdout'];
    if (one.hash === undefined) {
      if (other.hash !== undefined) combinedHash = other.hash.copy();
      one.hash = createHash('sha256');
    }
    one.hash.update(bytes);
    combinedHash?.update(bytes);
  };

  const accept = (stream: StreamName, bytes: Uint8Array): void => {
    if (bytes.length === 0) return;
    digest(stream, bytes);
    lanes[stream].window.push(bytes);
    combined.push(bytes);
    spool.write(stream, bytes);
  };

  return {
    chunk(stream, buffer, length) {
      if (ended || length <= 0) return;
      const one = lanes[stream];
      one.total += length;
      const start = HEADROOM - one.held.length;
      buffer.set(one.held, start);
      const bytes = buffer.subarray(start, HEADROOM + length);
      const cut = bytes.length - incompleteTail(bytes);
      one.held = cut < bytes.length ? Buffer.from(bytes.subarray(cut)) : one.held.subarray(0, 0);
      accept(stream, bytes.subarray(0, cut));
    },
    get total() {
      return lanes.stdout.total + lanes.stderr.total;
    },
    view() {
      return {
        stdout: lanes.stdout.window.view(lanes.stdout.sha256),
        stderr: lanes.stderr.window.view(lanes.stderr.sha256),
        combined: combined.view(combinedSha256),
        spooled_bytes: spool.spooled,
      };
    },
    end() {
      if (ended) return;
      ended = true;
      for (const stream of ['stdout', 'stderr'] as const) accept(stream, lanes[stream].held);
      const whole = combinedHash ?? lanes.stdout.hash?.copy() ?? lanes.stderr.hash?.copy() ?? createHash('sha256');
      combinedSha256 = whole.digest('hex');
      for (const one of Object.values(lanes)) one.sha256 = (one.hash ?? createHash('sha256')).digest('hex');
      spool.end();
    },
  };
}
