import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** As over stdio: a longer message is refused. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** Bytes of one agent that are held at once: bodies being read, answers not yet taken. Shared by all its requests. */
export interface Hold {
  readonly max: number;
  bytes: number;
}

export type Body = { readonly type: 'text'; readonly text: string } | { readonly type: 'too_long' | 'too_much' | 'not_utf8' };

/** Reads a whole body; `done` is called once, or never where the client goes away before: then the caller gives back what is held (`release`). */
export function readBody(request: IncomingMessage, hold: Hold, done: (body: Body) => void): { release(): void } {
  let chunks: Buffer[] = [];
  let size = 0;
  let ended = false;

  function release(): void {
    hold.bytes -= size;
    size = 0;
    chunks = [];
  }

  function end(body: Body): void {
    if (ended) return;
    ended = true;
    request.off('data', onData);
    request.off('end', onEnd);
    release();
    done(body);
  }

  function onData(chunk: Buffer): void {
    size += chunk.length;
    hold.bytes += chunk.length;
    if (size > MAX_BODY_BYTES) end({ type: 'too_long' });
    else if (hold.bytes > hold.max) end({ type: 'too_much' });
    else chunks.push(chunk);
  }

  function onEnd(): void {
    const [first] = chunks;
    const bytes = chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size);
    // Replacing bad bytes would run a command that nobody sent.
    if (!isUtf8(bytes)) end({ type: 'not_utf8' });
    else {
      const text = bytes.toString('utf8');
      end({ type: 'text', text: text.startsWith('\ufeff') ? text.slice(1) : text });
    }
  }

  // What is announced as too long isn't even begun; a lie about the length is node's to refuse.
  if (Number(request.headers['content-length'] ?? 0) > MAX_BODY_BYTES) {
    ended = true;
    queueMicrotask(() => done({ type: 'too_long' }));
    return { release };
  }
  request.on('data', onData);
  request.on('end', onEnd);
  return { release };
}
