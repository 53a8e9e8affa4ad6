import type { Clock } from '../kernel/clock.ts';
import { AppError } from '../kernel/errors.ts';
import type { Logger } from '../kernel/logger.ts';
import { TRANSITIONS } from './states.ts';
import type { UpstreamSettings, UpstreamState, UpstreamStatus, UpstreamTool } from './types.ts';
import type { UpstreamClient } from './wire/client.ts';
import type { WireCounts } from './wire/exchange.ts';

/** How one upstream stands: its state by the table, why, and what a person is told of that. */
export interface Standing {
  state(): UpstreamState;
  /** Why, as the end of a sentence. */
  why(): string;
  move(to: UpstreamState, reason?: string): void;
  /** The same state, for another reason. */
  explain(reason: string): void;
  /** It can't be used, which is said once for each reason, however often it is tried until it is there. */
  skip(to: 'needs_approval' | 'needs_install' | 'quarantined', reason: string): void;
  fail(to: 'timeout' | 'failed' | 'needs_auth', reason: string): void;
  /** It was there, and is gone. */
  lost(reason: string): void;
  /** What one of its connections dropped, once that is over. */
  dropped(counts: Readonly<WireCounts>): void;
  status(tools: readonly UpstreamTool[], client: UpstreamClient | undefined): UpstreamStatus;
}

export interface StandingParts {
  readonly settings: UpstreamSettings;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Takes secrets out: a reason may be in the server's own words. */
  clean?(text: string): string;
  changed(): void;
}

export function createStanding({ settings, clock, logger, clean = (text) => text, changed }: StandingParts): Standing {
  const { name, source, project } = settings;
  let state: UpstreamState = settings.enabled ? 'starting' : 'disabled';
  let reason: string | undefined = settings.enabled
    ? 'not started yet: it is with the first agent that connects'
    : 'disabled in the configuration';
  let since = clock.now();
  let last_error: string | undefined;
  let told: string | undefined;
  let restarts = 0;
  let before: WireCounts = { late: 0, unknown: 0, noise: 0 };

  const sum = (one: Readonly<WireCounts>, other: Readonly<WireCounts>): WireCounts => ({
    late: one.late + other.late,
    unknown: one.unknown + other.unknown,
    noise: one.noise + other.noise,
  });

  function move(to: UpstreamState, why?: string): void {
    if (state !== to && !TRANSITIONS[state].includes(to)) throw new AppError('internal', `An upstream can't go from ${state} to ${to}.`);
    if (state !== to) since = clock.now();
    if (to === 'connected') told = undefined;
    state = to;
    reason = why && clean(why);
    changed();
  }

  function say(why: string): void {
    if (why !== told) logger.warn(`writ: skipped "${name}": ${why}`);
    told = why;
  }

  function fail(to: UpstreamState, why: string): void {
    say(why);
    last_error = clean(why);
    move(to, why);
  }

  return {
    state: () => state,
    why: () => reason ?? last_error ?? 'no reason is known',
    move,
    explain(why) {
      reason = why;
      changed();
    },
    skip(to, why) {
      // What was tried goes back to its start first.
      if (!TRANSITIONS[state].includes(to) && state !== to) move('starting');
      move(to, why);
      say(why);
    },
    fail,
    lost(why) {
      restarts++;
      fail('failed', why);
    },
    dropped(counts) {
      before = sum(before, counts);
    },
    status(tools, client) {
      const enabled = tools.filter(({ availability }) => availability.state === 'enabled').length;
      return {
        name,
        source,
        ...(project === undefined ? {} : { project }),
        transport: settings.transport.type,
        state,
        ...(reason === undefined ? {} : { reason }),
        since,
        tools: { all: tools.length, enabled, disabled: tools.length - enabled },
        ...(client === undefined ? {} : { identity: client.identity }),
        ...(last_error === undefined ? {} : { last_error }),
        restarts,
        dropped: client === undefined ? before : sum(before, client.counts),
      };
    },
  };
}
