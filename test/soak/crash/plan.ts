import type { Random } from '../kit/random.ts';

/** Which processes a kill takes. `mcp` holds the writer of the audit, `runner` carries the commands out. */
export type Victim = 'mcp' | 'runner' | 'all';

export interface Kill {
  readonly victim: Victim;
  /** After the command was sent. */
  readonly after_ms: number;
  /** Which of several, counted round. */
  readonly which: number;
}

export type Kind = 'quick' | 'slow' | 'tree' | 'loud' | 'background' | 'yielded' | 'cancelled';

/** One command of the storm, and what dies while it is under way. */
export interface Planned {
  readonly token: string;
  readonly kind: Kind;
  readonly command: string;
  readonly exit_code: number;
  readonly arguments: Readonly<Record<string, unknown>>;
  /** The client takes the call back after so long. */
  readonly cancel_after_ms?: number;
  readonly kill?: Kill;
}

/** Lines `TOKEN SECONDS` in the workspace: whatever ran has left its mark, once for each time. */
export const EFFECTS = 'effects';

const KINDS: readonly Kind[] = ['quick', 'quick', 'quick', 'slow', 'tree', 'loud', 'background', 'background', 'yielded', 'cancelled'];

/** One command in so many comes with a kill. */
const KILL_EVERY = 4;

/** The same for the same seed; what meets what in time is the machine's choice. */
export function planStorm(count: number, random: Random): readonly Planned[] {
  return Array.from({ length: count }, (_, index) => planOne(index, random));
}

function planOne(index: number, random: Random): Planned {
  const kind = random.pick(KINDS);
  const token = `t${index}x`;
  const exit_code = random.below(3) * 7;
  const command = `echo "${token} $EPOCHREALTIME" >> ${EFFECTS}; echo "${token}"; ${BODY[kind]}exit ${exit_code}`;
  const victim = random.pick<Victim>(['mcp', 'mcp', 'runner', 'runner', 'all']);
  // Births and ends of short commands are where the seams are: most kills come early.
  const after_ms = random.below(random.pick([15, 80, 400]));
  const which = random.below(64);
  return {
    token,
    kind,
    command,
    exit_code,
    arguments: { command, ...MORE[kind] },
    ...(kind === 'cancelled' ? { cancel_after_ms: random.below(300) } : {}),
    ...(random.chance(1 / KILL_EVERY) ? { kill: { victim, after_ms, which } } : {}),
  };
}

/** What comes between the mark and the exit. */
const BODY: Readonly<Record<Kind, string>> = {
  quick: '',
  slow: 'sleep 0.3; ',
  // Left behind on purpose: they must die with it.
  tree: 'setsid sleep 300 & (sleep 300 & sleep 300 &) ; sleep 0.1; ',
  loud: 'yes | head -c 400000; ',
  background: 'sleep 0.2; ',
  yielded: 'sleep 0.5; ',
  cancelled: 'sleep 2; ',
};

const MORE: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
  quick: {},
  slow: {},
  tree: {},
  loud: {},
  background: { background: true },
  yielded: { yield_ms: 100 },
  cancelled: {},
};
