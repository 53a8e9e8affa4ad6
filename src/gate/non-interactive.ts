import { AppError } from '../kernel/errors.ts';
import { defaultVerdict, describeOpening, stricter } from '../policy/index.ts';
import type { Decision, Effect, Finding, PolicyConfig } from '../policy/types.ts';
import { howToBeAsked } from './ways-to-answer.ts';

/** `dangerous.non_interactive`: what decides when nobody can be asked. */
export type NonInteractive = 'deny' | 'read_only' | 'allow';

/** A policy, and what decides where it would ask and nobody can be asked. */
export interface GatePolicy {
  readonly rules: PolicyConfig;
  readonly nonInteractive: NonInteractive;
}

/** Never covered by `non_interactive: allow`. */
const NEVER_UNASKED: ReadonlySet<Effect> = new Set(['destructive', 'blocked']);

/** Where only reading is allowed, nothing else is asked about either. */
export function onlyReading({ effects }: Decision, mode: NonInteractive): AppError | undefined {
  if (mode !== 'read_only' || effects.every((effect) => effect === 'safe')) return undefined;
  return new AppError(
    'denied_by_policy',
    `Only reading is allowed here (dangerous.non_interactive is "read_only"); this would be ${effects.join(', ')}.`,
    {
      fix: 'Set dangerous.non_interactive to "deny" in the operator configuration to allow contained work without questions.',
    },
  );
}

/**
 * A `prompt` where no channel to a person is open: undefined lets it through, an error refuses it. The refusal says what was asked,
 * why, and how it can be allowed or asked.
 */
export function answerUnasked(decision: Decision, mode: NonInteractive, has_page: boolean): AppError | undefined {
  if (mode === 'allow' && !decision.effects.some((effect) => NEVER_UNASKED.has(effect))) return undefined;
  return unreachable(decision, 'nobody can be asked', has_page);
}

/** `why` goes on from "This needs a person's yes and". */
export function unreachable(decision: Decision, why: string, has_page: boolean): AppError {
  return new AppError('no_channel', asked(decision, why), {
    fix: `${whoIsAsked(decision)}${howToBeAsked(has_page)} ${howToAllow(decision)}`,
    data: { effects: decision.effects, opens: decision.opens },
  });
}

/** A channel must be open before the call is made: a question nobody sees is not put. */
function whoIsAsked({ opens }: Decision): string {
  return opens.some(({ type }) => type === 'uncontained') ? 'Only the operator can say yes to this. ' : '';
}

function asked(decision: Decision, why: string): string {
  const asking = decision.findings.filter((finding) => finding.effect !== 'safe' || finding.opens);
  const reasons = [...new Set(asking.map((finding) => `${finding.reason} [${finding.effect}]`))].slice(0, 4);
  const opens = decision.opens.map(describeOpening);
  const yes = opens.length > 0 ? ` A yes would open: ${opens.join('; ')}.` : '';
  const rule = decision.rule?.list === 'prompt' ? ` A rule asks for it${decision.rule.reason ? `: ${decision.rule.reason}` : ''}.` : '';
  return `This needs a person's yes and ${why}: ${reasons.join('; ') || decision.effects.join(', ')}.${rule}${yes}`;
}

const MOST_RULES = 3;
const MOST_WORDS = 12;

/**
 * Rules the operator can paste: the words of each command that asks, exactly where they are known. What belongs to no command (a
 * redirection, a variable) is lifted by no rule, and saying otherwise would send somebody round in circles.
 */
function howToAllow(decision: Decision): string {
  const asking = decision.findings.filter(asks);
  const rules = [...new Set(asking.flatMap(({ command, argv }) => (command === undefined ? [] : [JSON.stringify(pattern(argv))])))];
  const bare = asking.filter(({ command }) => command === undefined).map(({ argv }) => argv.join(' '));
  if (bare.length > 0) {
    return `No rule lifts a redirection or a variable (${[...new Set(bare)].slice(0, MOST_RULES).join(', ')}); the user can do this in their own terminal, or name the file as an argument of a command (tee, cp) that a rule can allow.`;
  }
  const shown = rules.slice(0, MOST_RULES).map((argv) => `{"argv": ${argv}}`);
  const free = decision.opens.some((opening) => opening.type === 'uncontained');
  const still = free ? ' Such a rule lets it run without containment every time.' : '';
  return `Or allow it with a rule in ~/.writ/config.json: {"dangerous": {"allow": [${shown.join(', ') || '{"argv": ["PROGRAM", "**"]}'}]}}${still}`;
}

/** Findings of a milder class don't need a rule; where a class was made stricter by the operator, all are named. */
function asks({ effect, verdict }: Finding): boolean {
  return stricter(verdict ?? defaultVerdict(effect), 'contained');
}

function pattern(argv: readonly string[]): readonly string[] {
  return argv.length <= MOST_WORDS && !argv.some((word) => word.includes('<unknown>')) ? argv : [argv[0] ?? '', '**'];
}
