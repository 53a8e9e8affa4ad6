import { BUDGET, NotUnderstood } from './budget.ts';
import { known, show, type Text } from './text.ts';
import type { Effect, Finding, Opening, ParsedCommand, Verdict } from './types.ts';

export type Span = readonly [start: number, end: number];

/** A simple command being judged. */
export interface Subject {
  readonly span: Span;
  readonly argv: readonly Text[];
  /** Its place in `commands`; undefined: findings about it are no matter of the command (redirects, variables). */
  readonly index: number | undefined;
}

/** Collects what is seen during one assessment. */
export interface Session {
  command(argv: readonly Text[], span: Span, outer: ParsedCommand['outer']): Subject;
  report(subject: Subject, effect: Effect, reason: string, more?: { readonly verdict?: Verdict; readonly opens?: Opening }): void;
  readonly findings: readonly Finding[];
  readonly commands: readonly ParsedCommand[];
}

const MAX_COMMANDS = BUDGET.steps;

export function createSession(): Session {
  const findings: Finding[] = [];
  const commands: ParsedCommand[] = [];
  const seen = new Set<string>();
  const places = new Map<string, number>();
  return {
    findings,
    commands,
    command: (argv, span, outer) => {
      const key = `${span[0]}:${span[1]}:${outer?.command ?? ''}:${argv.join('\0')}`;
      const before = places.get(key);
      if (before !== undefined) return { span, argv, index: before };
      if (commands.length >= MAX_COMMANDS) throw new NotUnderstood('it holds too many commands to judge');
      const index = commands.push({ argv: argv.map(known), span, ...(outer === undefined ? {} : { outer }) }) - 1;
      places.set(key, index);
      return { span, argv, index };
    },
    report: (subject, effect, reason, more) => {
      const { verdict, opens } = more ?? {};
      const key = `${effect}\0${verdict ?? ''}\0${subject.span[0]}\0${subject.span[1]}\0${subject.index ?? ''}\0${reason}\0${opens === undefined ? '' : JSON.stringify(opens)}`;
      if (seen.has(key)) return;
      if (findings.length >= BUDGET.findings) throw new NotUnderstood('it does too many things to judge');
      seen.add(key);
      findings.push({
        effect,
        span: subject.span,
        argv: subject.argv.map(show),
        reason,
        ...(subject.index === undefined ? {} : { command: subject.index }),
        ...(verdict === undefined ? {} : { verdict }),
        ...(opens === undefined ? {} : { opens }),
      });
    },
  };
}
