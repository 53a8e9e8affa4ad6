import type { Config } from '../../kernel/config/index.ts';
import { AppError } from '../../kernel/errors.ts';
import type { AssessContext, PolicyConfig } from '../../policy/index.ts';

/** Examples of rules are judged by their words alone: the same on every machine. */
const NOWHERE: AssessContext = {
  cwd: '/workspace',
  home: '/home/user',
  workspaces: ['/workspace'],
  facts: { realpath: (path) => path, which: () => undefined },
};

/** The configured policy with its rules checked against their own examples; a rule that doesn't do what it says stops the start. */
export async function policyOf(config: Config): Promise<PolicyConfig> {
  const { classes, deny, prompt, allow } = config.dangerous;
  const policy: PolicyConfig = { classes, deny, prompt, allow };
  if (deny.length + prompt.length + allow.length === 0) return policy;
  const { assessCommand, loadRules } = await import('../../policy/index.ts');
  for (const [list, rules] of Object.entries({ deny, prompt, allow })) {
    const loaded = loadRules(rules, (text) => assessCommand(text, NOWHERE));
    if (!loaded.ok)
      throw new AppError('config_invalid', `dangerous.${list}: ${loaded.problems.slice(0, 3).join('; ')}.`, {
        fix: 'Correct the rule or its examples in ~/.writ/config.json.',
      });
  }
  return policy;
}
