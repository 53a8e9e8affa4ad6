/** A line of a stream: its text, or why it has none. */
export type Frame = { readonly type: 'line'; readonly text: string } | { readonly type: 'oversized' } | { readonly type: 'not_utf8' };

export interface LineDecoder {
  push(chunk: Uint8Array): void;
  /** The stream has ended: what is left counts as a line, since a cut JSON object is never a valid one. */
  end(): void;
}

const LINE_FEED = 0x0a;
const FIRST_CAPACITY = 4096;

/**
 * Cuts a byte stream into lines at 0x0A and hands each to `onFrame`. Lines of only white space are dropped, a carriage return
 * before the line feed is white space to JSON and stays, a byte order mark goes. A line over `maxBytes` is announced once, at the byte that
 * makes it too long, and then skipped without being kept. What is decoded doesn't depend on how the bytes were chunked.
 */
export function createLineDecoder(maxBytes: number, onFrame: (frame: Frame) => void): LineDecoder {
  // One growing buffer and not a list of chunks: a line delivered byte by byte must not cost an object per byte.
  let kept: Uint8Array = new Uint8Array(FIRST_CAPACITY);
  let size = 0;
  let skipping = false;
  const decoder = new TextDecoder('utf-8', { fatal: true });

  function emit(bytes: Uint8Array): void {
    let text: string;
    try {
      text = decoder.decode(bytes);
    } catch {
      // Replacing bad bytes would run a command that nobody sent.
      onFrame({ type: 'not_utf8' });
      return;
    }
    if (text.trim() !== '') onFrame({ type: 'line', text });
  }

  function keep(piece: Uint8Array): void {
    if (skipping) return;
    const needed = size + piece.length;
    if (needed > maxBytes) {
      skipping = true;
      reset();
      onFrame({ type: 'oversized' });
      return;
    }
    if (needed > kept.length) {
      const grown = new Uint8Array(Math.min(maxBytes, Math.max(needed, kept.length * 2)));
      grown.set(kept.subarray(0, size));
      kept = grown;
    }
    kept.set(piece, size);
    size = needed;
  }

  function reset(): void {
    size = 0;
    if (kept.length > 16 * FIRST_CAPACITY) kept = new Uint8Array(FIRST_CAPACITY);
  }

  function endLine(): void {
    if (!skipping && size > 0) {
      const line = kept.subarray(0, size);
      emit(line);
    }
    skipping = false;
    reset();
  }

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
        const piece = chunk.subarray(from, at);
        from = at + 1;
        // The usual case, a whole line in one chunk, is decoded where it lies.
        if (size === 0 && !skipping && piece.length <= maxBytes) emit(piece);
        else {
          keep(piece);
          endLine();
        }
      }
      if (from < chunk.length) keep(chunk.subarray(from));
    },
    end: endLine,
  };
}
