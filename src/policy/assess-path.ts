import { createPathPolicy } from './paths/policy.ts';
import { disarm, show } from './text.ts';
import { type AssessContext, type Assessment, EFFECTS, type Finding, type PathUse } from './types.ts';

/**
 * What a file tool could do: the same tables and the same openings as for a redirection of the shell. It counts as a command of
 * the tool's name and the path, so that the operator's rules reach it: `{"argv": ["read_file", "/home/dev/app/.env"]}`.
 */
export function assessPaths(tool: string, uses: readonly PathUse[], context: AssessContext): Assessment {
  const policy = createPathPolicy(context);
  const findings = new Map<string, Finding>();
  for (const { access, path } of uses) {
    const word = disarm(path);
    for (const { effect, reason, verdict, opens } of policy[access](word, [context.cwd])) {
      const finding: Finding = {
        effect,
        span: [0, 0],
        argv: [tool, show(word)],
        reason,
        command: 0,
        ...(verdict === undefined ? {} : { verdict }),
        ...(opens === undefined ? {} : { opens }),
      };
      findings.set(JSON.stringify(finding), finding);
    }
  }
  const found = [...findings.values()];
  const seen = new Set(found.map((finding) => finding.effect));
  const effects = EFFECTS.filter((effect) => effect !== 'safe' && seen.has(effect));
  const words = [tool, ...new Set(uses.map(({ path }) => path))].map((word) => (disarm(word) === word ? word : null));
  return {
    effects: effects.length === 0 ? ['safe'] : effects,
    findings: found,
    commands: [{ argv: words, span: [0, 0] }],
    git_config_write: false,
  };
}
