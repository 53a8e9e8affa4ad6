/**
 * Where a piece of UTF-8 may be cut. Output is bytes until somebody looks at it; these three functions are the only place that knows how
 * long a character is, so that neither a view nor a page of a spool ever shows half of one. Invalid bytes become U+FFFD, in text only.
 */

const decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true });

/** Length that the lead byte announces; 1 for ASCII and for what can't lead, which then stands for itself. */
function announced(byte: number): number {
  if (byte >= 0xf0 && byte <= 0xf4) return 4;
  if (byte >= 0xe0 && byte < 0xf0) return 3;
  if (byte >= 0xc2 && byte < 0xe0) return 2;
  return 1;
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** How many bytes at the end (0 to 3) begin a character that isn't complete yet. */
export function incompleteTail(bytes: Uint8Array): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back++) {
    const byte = bytes[bytes.length - back];
    if (byte === undefined) return 0;
    if (isContinuation(byte)) continue;
    return announced(byte) > back ? back : 0;
  }
  return 0;
}

/** How many bytes at the start (0 to 3) belong to a character that began before. */
export function strayStart(bytes: Uint8Array): number {
  let stray = 0;
  while (stray < 3 && isContinuation(bytes[stray])) stray++;
  return stray;
}

export function decodeText(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}
