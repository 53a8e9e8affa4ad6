import { Worker } from 'node:worker_threads';
import { z } from 'zod';

/** A document as text, with the addresses behind its references. */
export interface Readable {
  readonly title: string;
  readonly lines: readonly string[];
  readonly links: ReadonlyMap<string, string>;
}

export interface ReadRequest {
  readonly html: string;
  readonly base: string;
  /** Before each reference: what another document had is none of this one. */
  readonly prefix: string;
}

const MAX_MS = 8_000;
const MAX_HEAP_MB = 256;

const answer = z.object({ title: z.string(), lines: z.array(z.string()), links: z.array(z.tuple([z.string(), z.string()])) });

/**
 * Reads a page in a thread of its own, which is ended when it takes too long or too much: parsers have inputs that they never come back
 * from. Then the page is its text without tags, and without references.
 */
export async function readPage(program: URL, request: ReadRequest, signal: AbortSignal, max_ms: number = MAX_MS): Promise<Readable> {
  const thread = new Worker(program, {
    workerData: request,
    resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB },
    stdout: true,
    stderr: true,
  });
  const { promise, resolve } = Promise.withResolvers<Readable | undefined>();
  const giveUp = (): void => resolve(undefined);
  const timer = setTimeout(giveUp, max_ms);
  signal.addEventListener('abort', giveUp, { once: true });
  thread.on('message', (message: unknown) => {
    const parsed = answer.safeParse(message);
    resolve(parsed.success ? { ...parsed.data, links: new Map(parsed.data.links) } : undefined);
  });
  thread.on('error', giveUp);
  thread.on('exit', giveUp);
  try {
    return (await promise) ?? { title: '', lines: withoutTags(request.html), links: new Map() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', giveUp);
    await thread.terminate();
  }
}

/** In one pass, whatever the document looks like. */
function withoutTags(html: string): readonly string[] {
  const pieces = html.split('<').map((piece) => piece.slice(piece.indexOf('>') + 1));
  return [
    '[this page could not be read as a document; what follows is its text, without links]',
    ...pieces
      .join(' ')
      .split('\n')
      .filter((line) => line.trim() !== ''),
  ];
}
