const LINE_FEED = 0x0a;

/**
 * Cuts a byte stream into whole lines, line feed included, and changes no byte of them. A line over `maxBytes` is handed on in the
 * pieces that came (`whole` false), since whoever reads it refuses it anyway.
 */
export function createByteLines(
  maxBytes: number,
  onLine: (bytes: Buffer, whole: boolean) => void,
): { push(chunk: Buffer): void; end(): void } {
  let kept: Buffer[] = [];
  let size = 0;
  let spilling = false;

  function emit(piece: Buffer, ends: boolean): void {
    const bytes = kept.length === 0 ? piece : Buffer.concat([...kept, piece]);
    kept = [];
    size = 0;
    onLine(bytes, ends && !spilling);
    spilling = !ends;
  }

  return {
    push(chunk) {
      let from = 0;
      for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, from)) {
        emit(chunk.subarray(from, at + 1), true);
        from = at + 1;
      }
      const rest = chunk.subarray(from);
      if (rest.length === 0) return;
      size += rest.length;
      if (spilling || size > maxBytes) emit(rest, false);
      else kept.push(rest);
    },
    end() {
      if (size > 0) emit(Buffer.alloc(0), true);
    },
  };
}
