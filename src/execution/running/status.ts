import type { Readable } from 'node:stream';

/** What bubblewrap says on `--json-status-fd`: one object a line. */
export interface SandboxStatus {
  /** PID of the namespace's init on the host and the namespace's inode; undefined when bubblewrap ended before it got so far. */
  readonly born: Promise<{ readonly init: number; readonly pid_namespace: string } | undefined>;
  /**
   * The exit code inside, written only if the launcher was really executed; undefined at the end of the stream otherwise. It tells a
   * sandbox that could not be built from a command that failed.
   */
  readonly ended: Promise<number | undefined>;
}

const MAX_STATUS_BYTES = 64 * 1024;

export function readStatus(stream: Readable): SandboxStatus {
  const born = Promise.withResolvers<{ init: number; pid_namespace: string } | undefined>();
  const ended = Promise.withResolvers<number | undefined>();
  let text = '';
  let seen = 0;

  const line = (json: string): void => {
    const value = parseObject(json);
    const init = value['child-pid'];
    const namespace = value['pid-namespace'];
    if (typeof init === 'number' && typeof namespace === 'number') born.resolve({ init, pid_namespace: `pid:[${namespace}]` });
    const code = value['exit-code'];
    if (typeof code === 'number') ended.resolve(code);
  };

  stream.on('data', (chunk: Buffer) => {
    seen += chunk.length;
    if (seen > MAX_STATUS_BYTES) return;
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n')) {
      line(text.slice(0, end));
      text = text.slice(end + 1);
    }
  });
  const over = (): void => {
    born.resolve(undefined);
    ended.resolve(undefined);
  };
  stream.on('error', over);
  stream.on('close', over);
  stream.on('end', over);
  return { born: born.promise, ended: ended.promise };
}

function parseObject(json: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    // Not for us: what is missing is noticed by whoever waits for it.
    return {};
  }
}
