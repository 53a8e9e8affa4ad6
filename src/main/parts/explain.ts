import { renderConfigCheck } from '../../cli/index.ts';
import { explainConfig, loadConfig, type ProcessFacts } from '../../kernel/config/index.ts';
import { toAppError } from '../../kernel/errors.ts';
import type { Redactor } from '../../kernel/redaction/index.ts';
import { policyOf } from './policy.ts';

/** The configuration as `writ config check` shows it, the rules tried against their own examples. */
export async function explainLocalConfig(
  facts: ProcessFacts,
  home: string,
  redactor: Redactor,
): Promise<{ ok: boolean; text: string; json: unknown }> {
  const loaded = await loadConfig(facts, { home, project_dir: facts.cwd });
  const explained = explainConfig(loaded, home, redactor);
  if (loaded.ok) {
    try {
      await policyOf(loaded.config);
    } catch (thrown) {
      const { message } = toAppError(thrown);
      return { ok: false, text: `error: ${message}`, json: { ok: false, problems: [{ message }] } };
    }
  }
  return { ok: explained.ok, text: renderConfigCheck(explained).trimEnd(), json: explained };
}
