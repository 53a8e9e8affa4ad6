import { EFFECT_WORDS, type RuleConfig, VERDICT_WORDS } from '../kernel/config/types.ts';

/**
 * The words of policy. Everything in this room is pure: text and facts in, a judgement out. Facts about the machine
 * (does this path resolve elsewhere?) come through the `Facts` port, so that an assessment can be replayed.
 */

/** Mildest first, those that a configuration can name and the one that it can't. DESIGN section 5 says what they mean. */
export const EFFECTS = [...EFFECT_WORDS, 'blocked'] as const;
export type Effect = (typeof EFFECTS)[number];

/** Mildest first; the strictest of several decides. */
export const VERDICTS = VERDICT_WORDS;
export type Verdict = (typeof VERDICTS)[number];

/** What a person's yes would open in the containment of this one execution, and nothing more. */
export type Opening =
  | { readonly type: 'hosts'; readonly hosts: readonly string[]; readonly presets: readonly string[] }
  | { readonly type: 'path'; readonly path: string; readonly access: 'read' | 'write' }
  | { readonly type: 'uncontained'; readonly why: string };

/** One thing the assessor saw. A finding never lowers a verdict; the strictest of all decides. */
export interface Finding {
  readonly effect: Effect;
  /** Stricter or (for destructive: confined) milder than the effect's default; undefined: the default. */
  readonly verdict?: Verdict;
  /** Start and end in the command as given, in UTF-16 code units. Text built by folding points at the words it came from. */
  readonly span: readonly [start: number, end: number];
  /** The decoded words of the simple command; an unknown part is shown as `<unknown>`. */
  readonly argv: readonly string[];
  /** One sentence for a person, without a final dot: "removes a folder outside the workspace". */
  readonly reason: string;
  readonly opens?: Opening;
  /**
   * The command of `Assessment.commands` that does it by itself, which an allow rule may cover. Undefined for what its surroundings
   * do (redirects, variables set for it): no rule about a command lifts that.
   */
  readonly command?: number;
}

/** A decoded simple command, for rules. `null` is a word (or a part of one) that can't be known from the text. */
export interface ParsedCommand {
  readonly argv: readonly (string | null)[];
  readonly span: readonly [start: number, end: number];
  /** The wrapper whose own words this command is (`sudo`, `env`, `timeout`), and where in its argv it begins. */
  readonly outer?: { readonly command: number; readonly at: number };
}

export interface Assessment {
  /** Every effect found; `safe` only where it is alone. */
  readonly effects: readonly Effect[];
  readonly findings: readonly Finding[];
  /** Every simple command found anywhere, the inner commands of wrappers included, in order of appearance. */
  readonly commands: readonly ParsedCommand[];
  /** Set when the text is not a command or is over a budget: always the strictest verdict. */
  readonly unparseable?: { readonly reason: string; readonly at?: number };
  /** True when every command is a plain git subcommand that may write `.git/config` (DESIGN section 6). */
  readonly git_config_write: boolean;
  /** It needs an exact yes once untrusted text from anywhere but `own` has been read in the Run. */
  readonly arms?: { readonly own: string; readonly reason: string };
  /** What would carry it out, where that isn't Writ itself: an approval holds for this and nothing else. */
  readonly incarnation?: string;
}

/** What the assessor may ask about the machine. Every answer is a fact at the time of asking and may be `undefined` (not known). */
export interface Facts {
  /** The path with every symbolic link resolved as far as it exists, or undefined when that can't be found out. */
  realpath(path: string): string | undefined;
  /** The executable a bare name would run, or that this absolute path is, resolved; undefined: not found. */
  which(name: string): string | undefined;
}

export interface AssessContext {
  /** Absolute and clean. */
  readonly cwd: string;
  readonly home: string;
  /** Folders the agent may write in, absolute and clean. */
  readonly workspaces: readonly string[];
  /** Folders it may read although they lie outside, absolute and clean (workspaces bound read-only). */
  readonly readable?: readonly string[];
  readonly facts: Facts;
}

/** One file that a tool touches itself, without a shell. */
export interface PathUse {
  readonly access: 'read' | 'write';
  /** Absolute, or relative to the working directory. */
  readonly path: string;
}

/** A rule of the operator or a project. Matches the decoded argv of one simple command, never raw text. */
export type Rule = RuleConfig;

export interface PolicyConfig {
  /** Overrides of the default verdict per effect. `blocked` can't be overridden. */
  readonly classes: Partial<Record<Exclude<Effect, 'blocked'>, Verdict>>;
  readonly deny: readonly Rule[];
  readonly prompt: readonly Rule[];
  readonly allow: readonly Rule[];
}

/** What policy says about one assessed action, before anybody is asked. */
export interface Decision {
  readonly verdict: Verdict;
  readonly effects: readonly Effect[];
  /** The findings that are as strict as the verdict come first. */
  readonly findings: readonly Finding[];
  /** The rule that decided, if one did. */
  readonly rule?: { readonly list: 'deny' | 'prompt' | 'allow'; readonly argv: Rule['argv']; readonly reason?: string };
  /** What a yes would open (verdict `prompt`) or what the allowing rule opened. */
  readonly opens: readonly Opening[];
  /** As the assessment says. */
  readonly git_config_write: boolean;
}
