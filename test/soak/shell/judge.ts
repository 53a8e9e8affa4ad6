import { assessCommand, decide, type PolicyConfig } from '../../../src/policy/index.ts';
import { bounded } from '../kit/bounded.ts';
import type { Findings } from '../kit/findings.ts';
import { CONTEXT } from './context.ts';

const POLICY: PolicyConfig = { classes: {}, deny: [], prompt: [], allow: [] };
/** No string may need this; the slowest are far below. It ends what would never end. */
const HANG_MS = 20_000;

export interface Judged {
  readonly ms: number;
  readonly understood: boolean;
}

/** Everything that must be true of the assessment of any text at all. */
export function judge(text: string, findings: Findings, name: string): Judged {
  const since = performance.now();
  const wrong = (kind: string, detail = ''): void => findings.add(kind, `${name}: ${detail} ${JSON.stringify(text)}`);
  try {
    const done = bounded(() => assessCommand(text, CONTEXT), HANG_MS);
    const ms = performance.now() - since;
    if (done === undefined) {
      wrong('an assessment does not end');
      return { ms, understood: false };
    }
    const assessment = done.result;
    const { verdict } = decide(assessment, POLICY);
    if (assessment.unparseable !== undefined && verdict !== 'deny') wrong('what is not understood is let through');
    if (/^judging it failed/.test(assessment.unparseable?.reason ?? '')) wrong('a fault inside', assessment.unparseable?.reason);
    if (assessment.effects.length === 0) wrong('no effect');
    for (const { span } of [...assessment.findings, ...assessment.commands]) {
      if (!(span[0] >= 0 && span[0] <= span[1] && span[1] <= text.length)) wrong('a span outside the text', span.join());
    }
    return { ms, understood: assessment.unparseable === undefined };
  } catch (error) {
    wrong('a throw', String(error));
    return { ms: performance.now() - since, understood: false };
  }
}
