import type { RunningServers } from '../../cli/index.ts';
import { AppError } from '../../kernel/errors.ts';
import { type Inquired, inquire, isAnswered, isOwnSocket, socketPath } from '../../mcp/index.ts';
import type { UpstreamStatus } from '../../upstreams/index.ts';

const RECONNECT_MS = 120_000;
const LOOK_MS = 5_000;

/** The running `writ up` of this home, for `writ upstream`. Undefined: none answers. */
export async function findRunning(parts: {
  readonly home: string;
  readonly uid: number;
  readonly version: string;
}): Promise<RunningServers | undefined> {
  const { version } = parts;
  const socket = socketPath(parts.home);
  if (socket === undefined || !isOwnSocket(socket, parts.uid) || !(await isAnswered(socket))) return undefined;
  const path = socket;

  async function one<T>(inquiry: string, params: Readonly<Record<string, unknown>>, ms: number): Promise<T> {
    const values: T[] = [];
    const ended = await inquire(path, { version, inquiry, params }, (value) => values.push(value as T), AbortSignal.timeout(ms));
    const [value] = values;
    if (ended === 'answered' && value !== undefined) return value;
    throw gone(ended);
  }

  return {
    list: () => one<readonly UpstreamStatus[]>('upstreams', {}, LOOK_MS),
    reconnect: (key) => one<UpstreamStatus>('upstream.reconnect', { ...key }, RECONNECT_MS),
    async log(key, { lines, follow }, told, signal) {
      const params = { ...key, lines, follow };
      const ended = await inquire(path, { version, inquiry: 'upstream.log', params }, (line) => told(String(line)), signal);
      if (ended !== 'answered' && !signal.aborted) throw gone(ended);
    },
  };
}

function gone(how: Inquired): AppError {
  return new AppError(
    'upstream_unavailable',
    `\`writ up\` ${how === 'nobody' ? 'is not running any more' : 'did not answer to the end'}.`,
    {
      fix: 'Look whether it runs, and try again.',
    },
  );
}
