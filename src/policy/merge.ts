import { defaultVerdict, stricter } from './defaults.ts';
import { EFFECTS, type Effect, type PolicyConfig, type Verdict } from './types.ts';

/**
 * A project may only tighten: its allow rules are left out, and a class of its own counts only where it is at least as strict as what
 * holds without it.
 */
export function mergePolicy(operator: PolicyConfig, project: PolicyConfig): PolicyConfig {
  const classes: Partial<Record<Exclude<Effect, 'blocked'>, Verdict>> = { ...operator.classes };
  for (const effect of EFFECTS) {
    if (effect === 'blocked') continue;
    const wanted = project.classes[effect];
    const held = operator.classes[effect] ?? defaultVerdict(effect);
    if (wanted !== undefined && !stricter(held, wanted)) classes[effect] = wanted;
  }
  return { classes, deny: [...operator.deny, ...project.deny], prompt: [...operator.prompt, ...project.prompt], allow: operator.allow };
}
