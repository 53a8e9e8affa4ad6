import type { FetchLike } from '@modelcontextprotocol/client';

/** A message that is longer than it may be. */
export class TooLong extends Error {
  /** Whoever passes an error on may keep no more than its text. */
  static readonly marker = 'a message longer than max_response_bytes';
  constructor() {
    super(TooLong.marker);
  }
}

const LINE_FEED = 0x0a;
const RETURN = 0x0d;

/** A fetch whose bodies break off when one message of them grows too long: the whole of a JSON answer, one event of a stream. */
export function boundedFetch(fetch: FetchLike, max_bytes: number): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const said = Number(headers.get('content-length') ?? Number.NaN);
    // Nothing is read beyond the length that was told; what is packed grows. A Response of undici isn't one to the SDK, where it isn't the global.
    if (said <= max_bytes && !headers.has('content-encoding') && response instanceof Response) return response;
    const events = headers.get('content-type')?.startsWith('text/event-stream') === true;
    return new Response(body.pipeThrough(counting(max_bytes, events)), { status, statusText, headers });
  };
}

function counting(max_bytes: number, events: boolean): TransformStream<Uint8Array, Uint8Array> {
  let size = 0;
  let last = 0;
  return new TransformStream({
    transform(chunk, controller) {
      if (!events) size += chunk.length;
      else {
        // An empty line ends an event.
        let from = 0;
        for (let at = chunk.indexOf(LINE_FEED); at !== -1; at = chunk.indexOf(LINE_FEED, at + 1)) {
          const before = at === 0 ? last : (chunk[at - 1] ?? 0);
          const further = at > 1 && before === RETURN ? (chunk[at - 2] ?? 0) : before;
          if (before === LINE_FEED || further === LINE_FEED) {
            size = 0;
            from = at + 1;
          }
        }
        size += chunk.length - from;
        last = chunk.at(-1) ?? last;
      }
      if (size > max_bytes) throw new TooLong();
      controller.enqueue(chunk);
    },
  });
}
