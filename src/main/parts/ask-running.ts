import type { RunningServers } from '../../cli/index.ts';
import { AppError, toAppError } from '../../kernel/errors.ts';
import { inquire, listeners } from '../../mcp/index.ts';
import type { UpstreamStatus } from '../../upstreams/index.ts';

const RECONNECT_MS = 120_000;
const LOOK_MS = 5_000;

/**
 * The processes that serve agents of this home (`writ up`, and each `writ mcp` that works by itself), for `writ upstream`. Undefined: none
 * has anything to do with MCP servers.
 */
export async function findRunning(parts: {
  readonly home: string;
  readonly uid: number;
  readonly version: string;
}): Promise<RunningServers | undefined> {
  const { version } = parts;
  const paths = await listeners(parts.home, parts.uid);
  if (paths.length === 0) return undefined;

  async function one<T>(path: string, inquiry: string, params: Readonly<Record<string, unknown>>, ms: number): Promise<T> {
    const values: T[] = [];
    const ended = await inquire(path, { version, inquiry, params }, (value) => values.push(value as T), AbortSignal.timeout(ms));
    const [value] = values;
    if (ended === 'answered' && value !== undefined) return value;
    throw new AppError('upstream_unavailable', 'What runs there did not answer to the end.', {
      fix: 'Look whether it runs, and try again.',
    });
  }

  return {
    list: async () => (await settled(paths.map((path) => one<readonly UpstreamStatus[]>(path, 'upstreams', {}, LOOK_MS)))).flat(),
    reconnect: (key) => settled(paths.map((path) => one<UpstreamStatus>(path, 'upstream.reconnect', { ...key }, RECONNECT_MS))),
    async log(key, { lines, follow }, told, signal) {
      const params = { ...key, lines, follow };
      const read = async (path: string): Promise<void> => {
        const ended = await inquire(path, { version, inquiry: 'upstream.log', params }, (line) => told(String(line)), signal);
        if (ended !== 'answered' && !signal.aborted) throw new AppError('upstream_unavailable', 'What ran it has ended.');
      };
      await settled(paths.map(read));
    },
  };
}

/** Those that haven't got what was asked for are no failure as long as one has. */
async function settled<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  const all = await Promise.allSettled(work);
  const done = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  if (done.length > 0) return done;
  const failures = all.flatMap((one) => (one.status === 'rejected' ? [toAppError(one.reason)] : []));
  throw failures.find(({ code }) => code !== 'not_found') ?? failures[0] ?? new AppError('internal', 'Nobody was asked.');
}
