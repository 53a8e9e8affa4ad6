import type { AuditLog } from '../../audit/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError } from '../../kernel/errors.ts';
import type { Inquiry } from '../../mcp/index.ts';
import type { ServerLog, Upstream, UpstreamKey, UpstreamStatus } from '../../upstreams/index.ts';
import type { Gateway } from './gateway.ts';

/** The MCP servers of this process as they are just now, for its operator. */
export interface LiveUpstreams {
  /** Of the operator's file and of the projects that are connected. */
  all(): readonly Upstream[];
  find(key: UpstreamKey): Upstream | undefined;
  /** Its connection is ended and made anew; resolves when it is there or can't be. AppError not_found. */
  reconnect(key: UpstreamKey): Promise<UpstreamStatus>;
  log(key: UpstreamKey): ServerLog | undefined;
}

export interface LiveUpstreamsParts {
  /** Undefined as long as nobody needed it. */
  gateway(): Gateway | undefined;
  readonly clock: Clock;
  readonly operator: string;
  audit(): Promise<AuditLog>;
}

export function createLiveUpstreams({ gateway, clock, operator, audit }: LiveUpstreamsParts): LiveUpstreams {
  const all = (): readonly Upstream[] => gateway()?.pool.all() ?? [];
  const find = ({ name, project }: UpstreamKey): Upstream | undefined =>
    all().find(({ settings }) => settings.name === name && (settings.project ?? null) === project);

  return {
    all,
    find,
    async reconnect(key) {
      const upstream = find(key);
      if (upstream === undefined) throw notHere(key);
      const log = await audit();
      const event = { type: 'upstream.reconnected', at: clock.now(), organization: 'org_local', data: { server: key.name, by: operator } };
      await log.record(event, { essential: true });
      await upstream.reconnect();
      return upstream.status();
    },
    log: (key) => (find(key) === undefined ? undefined : gateway()?.logOf(key)),
  };
}

/** What `writ upstream` asks the running `writ up`. */
export async function answerInquiry(
  { inquiry, params }: Inquiry,
  live: LiveUpstreams,
  say: (value: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  switch (inquiry) {
    case 'upstreams':
      return say(live.all().map((upstream) => upstream.status()));
    case 'upstream.reconnect':
      return say(await live.reconnect(keyIn(params)));
    case 'upstream.log': {
      const key = keyIn(params);
      const log = live.log(key);
      if (log === undefined) throw notHere(key);
      const { lines, follow } = params;
      for (const line of lastOf(log.lines(), lines)) say(line);
      if (follow !== true || signal.aborted) return;
      const unfollow = log.follow(say);
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
      return unfollow();
    }
    default:
      throw new AppError('invalid_arguments', '`writ up` knows nothing of that.');
  }
}

function lastOf(lines: readonly string[], count: unknown): readonly string[] {
  return typeof count === 'number' && Number.isInteger(count) && count >= 0 ? lines.slice(Math.max(0, lines.length - count)) : lines;
}

function keyIn({ name, project = null }: Readonly<Record<string, unknown>>): UpstreamKey {
  if (typeof name === 'string' && (project === null || typeof project === 'string')) return { name, project };
  throw new AppError('invalid_arguments', 'That names no MCP server.');
}

function notHere({ name, project }: UpstreamKey): AppError {
  return new AppError('not_found', `Nothing that runs here has an MCP server ${JSON.stringify(name.slice(0, 80))} just now.`, {
    fix:
      project === null
        ? 'What runs looks at the configuration every half second; `writ config check` says what is wrong there.'
        : 'Those of a project are there as long as a host works in its folder.',
  });
}
