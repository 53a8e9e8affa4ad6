import { createPathPolicy } from './paths/policy.ts';
import { disarm, known, show } from './text.ts';
import { type AssessContext, type Assessment, EFFECTS, type Finding, type PathUse } from './types.ts';

/**
 * What a file tool could do: the same tables and the same openings as for a redirection of the shell. It counts as a command of
 * the tool's name and the real path, so that the operator's rules reach it whatever link leads there: `{"argv": ["read_file", "/home/dev/app/.env"]}`.
 */
export function assessPaths(tool: string, uses: readonly PathUse[], context: AssessContext): Assessment {
  const policy = createPathPolicy(context);
  const findings = new Map<string, Finding>();
  const named = new Set<string>();
  for (const { access, path } of uses) {
    const word = disarm(path);
    const meant = path.startsWith('/') ? path : `${context.cwd}/${path}`;
    const real = disarm(context.facts.realpath(meant) ?? meant);
    named.add(real);
    for (const { effect, reason, verdict, opens } of policy[access](word, [context.cwd])) {
      const finding: Finding = {
        effect,
        span: [0, 0],
        argv: [tool, show(real)],
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
  return {
    effects: effects.length === 0 ? ['safe'] : effects,
    findings: found,
    commands: [{ argv: [tool, ...[...named].map(known)], span: [0, 0] }],
    git_config_write: false,
  };
}
