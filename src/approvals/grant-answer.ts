import { decide } from '../policy/index.ts';
import type { Assessment, Decision, Effect, Finding, PolicyConfig, Rule } from '../policy/types.ts';
import { mayBeGranted } from './grant-offers.ts';
import { isWithin } from './openings.ts';
import type { Grant } from './types.ts';

/**
 * The Grants that together answer a `prompt`, or undefined when they don't. One for this exact command answers all of it. The others
 * answer what is about them: a host its connections, a path its writes, a program what it does (as an allow rule would, so a rule that
 * asks is not answered by it). None opens more than the approval it was made of. What a run opens is open to all of it, so beside a program
 * that a Grant is about nothing else may run code.
 */
export function answeringGrants(request: {
  readonly assessment: Assessment;
  readonly policy: PolicyConfig;
  readonly decision: Decision;
  readonly grants: readonly Grant[];
  readonly command_digest: string;
  readonly tainted: boolean;
}): readonly Grant[] | undefined {
  const { assessment, policy, decision, grants, command_digest, tainted } = request;
  if (!mayBeGranted(decision, tainted)) return undefined;
  const exact = grants.find(
    ({ scope, opens }) => scope.type === 'command' && scope.digest === command_digest && isWithin(decision.opens, opens),
  );
  if (exact !== undefined) return [exact];

  const used = new Set<Grant>();
  const findings = assessment.findings.filter((finding) => {
    const by = grants.find((grant) => isAbout(grant, finding));
    if (by !== undefined) used.add(by);
    return by === undefined;
  });
  const rules = new Map<Rule, Grant>();
  for (const grant of grants) {
    if (grant.scope.type === 'program') rules.set({ argv: [...grant.scope.argv, '**'] }, grant);
  }
  // One at a time, so that it is known which of them opens what.
  for (const finding of findings) {
    const alone = { ...assessment, findings: [finding] };
    if (decide(alone, policy).verdict !== 'prompt') continue;
    const by = [...rules].find(([rule, grant]) => {
      const allowed = decide(alone, { ...policy, allow: [...policy.allow, rule] });
      return allowed.verdict !== 'prompt' && allowed.verdict !== 'deny' && isWithin(finding.opens ? [finding.opens] : [], grant.opens);
    })?.[1];
    if (by === undefined) return undefined;
    used.add(by);
  }
  const programs = [...rules].filter(([, grant]) => used.has(grant)).map(([rule]) => rule);
  const others = assessment.findings.filter(({ effect }) => RUNS_CODE.has(effect));
  if (programs.length > 0 && !others.every((finding) => programs.some((rule) => covers(rule, finding, assessment)))) return undefined;
  // A rule that asks is left when every finding is answered.
  const rest = decide({ ...assessment, findings: [] }, policy);
  return rest.verdict === 'prompt' || rest.verdict === 'deny' || used.size === 0 ? undefined : [...used];
}

const RUNS_CODE: ReadonlySet<Effect> = new Set(['code_execution', 'unknown']);

/** Whether the finding belongs to a command that the rule is about: put as a question that only the rule can answer. */
function covers(rule: Rule, finding: Finding, assessment: Assessment): boolean {
  const asked = { classes: { [finding.effect]: 'prompt' }, deny: [], prompt: [], allow: [rule] } as const;
  return decide({ ...assessment, findings: [finding] }, asked).verdict !== 'prompt';
}

function isAbout({ scope }: Grant, { effect, opens }: Finding): boolean {
  if (opens === undefined) return false;
  if (scope.type === 'host') {
    return (
      effect === 'network_egress' &&
      opens.type === 'hosts' &&
      opens.presets.length === 0 &&
      opens.hosts.length > 0 &&
      opens.hosts.every((host) => host === scope.host)
    );
  }
  if (scope.type !== 'path' || opens.type !== 'path') return false;
  return opens.path === scope.path && (scope.access === 'write' || opens.access === 'read');
}
