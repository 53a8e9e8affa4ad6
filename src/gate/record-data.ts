import { hash } from 'node:crypto';
import { canonicalJson } from '../kernel/canonical-json.ts';
import type { Redactor } from '../kernel/redaction/index.ts';
import type { Decision } from '../policy/types.ts';

/** What the gate writes into the record, in the form in which it is kept. */

/** A decision as the audit keeps it. */
export function judged(decision: Decision | undefined, redactor: Redactor): Record<string, unknown> {
  if (!decision) return {};
  const findings = decision.findings
    .slice(0, 20)
    .map((finding) => ({ effect: finding.effect, reason: redactor.text(finding.reason), span: finding.span }));
  return {
    verdict: decision.verdict,
    effects: decision.effects,
    findings,
    ...(decision.rule ? { rule: decision.rule } : {}),
    opens: decision.opens,
  };
}

export function digest(text: string): string {
  return `sha256:${hash('sha256', text, 'hex')}`;
}

/** Arguments that aren't JSON can't come over a wire; from inside they are a fault and must not stop the refusal from being recorded. */
export function canonicalArguments(raw: unknown): string {
  try {
    return canonicalJson(raw);
  } catch {
    return String(raw);
  }
}

/** JSON only: `undefined` members go, so that the stored bytes are what was meant. */
export function jsonOnly(data: Record<string, unknown>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(data)) as Record<string, unknown>;
}
