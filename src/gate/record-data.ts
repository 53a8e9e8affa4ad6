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
    effects: decision.effects,
    findings,
    opens: decision.opens,
    ...(decision.rule ? { rule: decision.rule } : {}),
    verdict: decision.verdict,
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

/** JSON only: `undefined` members go, so that the stored bytes are what was meant. In the order in which they are stored. */
export function jsonOnly(data: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(data).sort()) {
    const value = data[name];
    if (isJson(value)) {
      kept[name] = value;
      continue;
    }
    const text = JSON.stringify(value);
    if (text !== undefined) kept[name] = JSON.parse(text);
  }
  return kept;
}

/** Whether it is exactly what JSON could say. */
function isJson(value: unknown): boolean {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return true;
  if (typeof value === 'number') return Number.isFinite(value);
  if (typeof value !== 'object') return false;
  // `every` passes over holes.
  if (Array.isArray(value)) return !value.includes(undefined) && value.every(isJson);
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isJson);
}
