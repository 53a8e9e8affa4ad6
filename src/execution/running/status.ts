import type { Readable } from 'node:stream';

/** PID of the namespace's init on the host, and the namespace. */
export interface Born {
  readonly init: number;
  /** `pid:[inode]` */
  readonly pid_namespace: string;
}

const MAX_STATUS_BYTES = 64 * 1024;

/** The first line that bubblewrap writes to `--json-status-fd`; undefined when it ended before it got so far. */
export function readBirth(stream: Readable): Promise<Born | undefined> {
  const { promise, resolve } = Promise.withResolvers<Born | undefined>();
  let text = '';
  stream.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    const end = text.indexOf('\n');
    if (end >= 0) resolve(parseBirth(text.slice(0, end)));
    // The one later line (the exit code) is of no use to us, and fits into the pipe however long nobody reads it.
    if (end >= 0 || text.length > MAX_STATUS_BYTES) stream.pause();
  });
  for (const event of ['error', 'end', 'close']) stream.on(event, () => resolve(undefined));
  return promise;
}

export function parseBirth(line: string): Born | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { 'child-pid': init, 'pid-namespace': namespace }: Partial<Record<string, unknown>> = { ...value };
  return typeof init === 'number' && typeof namespace === 'number' ? { init, pid_namespace: `pid:[${namespace}]` } : undefined;
}
