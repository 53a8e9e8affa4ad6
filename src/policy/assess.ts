import { NotUnderstood } from './budget.ts';
import { isGitConfigWrite } from './git-config-write.ts';
import { createInterpreter } from './shell/interpreter.ts';
import { disarm } from './text.ts';
import { type AssessContext, type Assessment, EFFECTS, type Effect, type Finding } from './types.ts';

/**
 * What a command line could do, judged from its text and from facts about the machine. Advice and friction, not the boundary:
 * containment holds where this is wrong. Never throws; what isn't understood gets the strictest verdict.
 */
export function assessCommand(text: string, context: AssessContext): Assessment {
  try {
    const interpreter = createInterpreter(context);
    interpreter.run(disarm(text));
    const { findings, commands } = interpreter.session;
    return { effects: effectsOf(findings), findings, commands, git_config_write: isGitConfigWrite(commands, findings) };
  } catch (thrown) {
    if (thrown instanceof NotUnderstood) return refused(text, thrown.message, thrown.at);
    // The parser and this walk are recursive: text can be deep enough for the stack although it is inside every budget.
    if (thrown instanceof RangeError) return refused(text, 'it is nested too deeply to judge', undefined);
    return refused(text, `judging it failed (${thrown instanceof Error ? thrown.message : String(thrown)})`, undefined);
  }
}

function refused(text: string, reason: string, at: number | undefined): Assessment {
  const finding: Finding = { effect: 'unknown', verdict: 'deny', span: [0, text.length], argv: [], reason: `cannot be judged: ${reason}` };
  const place = at !== undefined && at >= 0 && at <= text.length ? { at } : {};
  return { effects: ['unknown'], findings: [finding], commands: [], unparseable: { reason, ...place }, git_config_write: false };
}

/** In order of the table; `safe` alone where nothing else was seen. */
function effectsOf(findings: readonly Finding[]): readonly Effect[] {
  const seen = new Set(findings.map((finding) => finding.effect));
  const effects = EFFECTS.filter((effect) => effect !== 'safe' && seen.has(effect));
  return effects.length === 0 ? ['safe'] : effects;
}
