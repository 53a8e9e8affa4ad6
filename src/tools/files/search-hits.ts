import { ANSWER_CHARS } from '../output-text.ts';
import type { SearchEvent } from './ripgrep-events.ts';

export interface Hit {
  readonly path: string;
  readonly line: number;
  readonly text: string;
  /** As ripgrep names the file, and where in the line the match begins (in bytes). */
  readonly name: string;
  readonly at: number;
}

export interface HitResult {
  readonly matches: readonly Hit[];
  readonly context: readonly Hit[];
  readonly total: number;
  readonly more: boolean;
  readonly skipped: readonly { readonly path: string; readonly why: string }[];
  readonly oversized: boolean;
}

/** Takes what is found in order, keeps the part that was asked for and counts the rest. Each answer: go on? */
export interface Hits {
  event(event: SearchEvent): Promise<boolean>;
  file(name: string): boolean;
  /** Nothing more of the file being read can be shown: its lines are only counted. */
  counts(): boolean;
  result(): HitResult;
}

/** Counted beyond what is shown; then the search is ended. */
const MAX_COUNTED = 10_000;
const MAX_SKIPPED = 50;
/** Of one line, around the match. */
export const MAX_LINE_CHARS = 400;

export function createHits(
  asked: { readonly offset: number; readonly limit: number },
  port: { nameOf(name: string): string; secret(name: string): Promise<boolean> },
): Hits {
  const matches: Hit[] = [];
  const context: Hit[] = [];
  const skipped: { path: string; why: string }[] = [];
  let total = 0;
  let chars = 0;
  let full = false;
  let oversized = false;
  /** The file being read, until it is known whether it counts. */
  let open: { name: string; path: string; secret: boolean; matched: number; lines: (Hit & { match: boolean })[] } | undefined;

  /** Only so many as an answer takes, in lines and in characters. */
  const take = (hit: Hit): boolean => {
    total += 1;
    if (total <= asked.offset || full) return false;
    const cost = Math.min(hit.text.length, MAX_LINE_CHARS) + hit.path.length + 16;
    if (matches.length >= asked.limit || (matches.length > 0 && chars + cost > ANSWER_CHARS)) {
      full = true;
      return false;
    }
    chars += cost;
    matches.push(hit);
    return true;
  };
  const goOn = (pending = 0): boolean => total + pending <= asked.offset + asked.limit + MAX_COUNTED;
  const skip = (path: string, why: string): void => {
    if (skipped.length < MAX_SKIPPED) skipped.push({ path, why });
  };

  const finish = (file: NonNullable<typeof open>): void => {
    const matching = file.lines.filter(({ match }) => match);
    const kept = matching.flatMap(({ match: _match, ...hit }) => (take(hit) ? [hit.line] : []));
    total += file.matched - matching.length;
    const around = file.lines.filter(({ match, line }) => !match && kept.some((one) => Math.abs(one - line) <= CONTEXT_REACH));
    for (const { match: _match, ...hit } of around) {
      chars += Math.min(hit.text.length, MAX_LINE_CHARS) + 8;
      context.push(hit);
    }
  };

  return {
    async event(event) {
      switch (event.type) {
        case 'begin':
          open = { name: event.path, path: port.nameOf(event.path), secret: await port.secret(event.path), matched: 0, lines: [] };
          return true;
        case 'line': {
          if (!open) return true;
          if (event.match) open.matched += 1;
          // What can't be shown any more is only counted.
          const room = asked.offset + asked.limit - total;
          if (!open.secret && open.matched <= room + 1) {
            open.lines.push({
              path: open.path,
              name: open.name,
              line: event.line,
              text: event.text.slice(0, MAX_KEPT_CHARS),
              at: event.at,
              match: event.match,
            });
          }
          return goOn(open.secret ? 0 : open.matched);
        }
        case 'end': {
          const file = open;
          open = undefined;
          if (!file) return true;
          if (file.secret) skip(file.path, 'holds secrets');
          else if (event.binary) skip(file.path, 'binary');
          else finish(file);
          return goOn();
        }
        case 'oversized':
          oversized = true;
          return true;
      }
    },
    counts: () => open !== undefined && (open.secret || full || open.matched > asked.offset + asked.limit - total),
    file(name) {
      take({ path: port.nameOf(name), name, line: 0, text: '', at: 0 });
      return goOn();
    },
    result() {
      // The search was ended inside a file: what was seen of it counts.
      if (open && !open.secret) finish(open);
      open = undefined;
      return { matches, context, total, more: total > asked.offset + matches.length, skipped, oversized };
    },
  };
}

/** As much context as can be asked for. */
const CONTEXT_REACH = 20;
/** Of one line, before secrets are masked in it. */
const MAX_KEPT_CHARS = 64 * 1024;
