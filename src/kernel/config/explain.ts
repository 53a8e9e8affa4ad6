import type { Redactor } from '../redaction/index.ts';
import type { ConfigNote, LoadedConfig, Source } from './result.ts';
import { SETTINGS } from './settings.ts';

/** One value that holds, where it came from and what it means. Secrets inside it are masked. */
export interface ExplainedValue {
  readonly path: string;
  readonly value: unknown;
  readonly unit?: string;
  readonly source: Source;
  /** `FILE:LINE`, the variable or the flag; absent for defaults. */
  readonly place?: string;
  readonly meaning: string;
}

export type ConfigExplanation =
  | {
      readonly ok: true;
      readonly home: string;
      readonly files: readonly string[];
      readonly values: readonly ExplainedValue[];
      readonly warnings: readonly ConfigNote[];
    }
  | { readonly ok: false; readonly home: string; readonly problems: readonly ConfigNote[]; readonly warnings: readonly ConfigNote[] };

/** Everything `writ config check` says, as data. Lists and maps are taken apart, since their items may come from different files. */
export function explainConfig(loaded: LoadedConfig, home: string, redactor: Redactor): ConfigExplanation {
  if (!loaded.ok) return { ok: false, home, problems: loaded.problems, warnings: loaded.warnings };
  const values: ExplainedValue[] = [];
  for (const [path, { meaning, unit }] of Object.entries(SETTINGS)) {
    const whole = at(loaded.config, path);
    const items = typeof whole === 'object' && whole !== null ? Object.entries(whole) : [];
    const parts: (readonly [string, unknown])[] =
      items.length > 0 ? items.map(([key, item]) => [`${path}.${key}`, item] as const) : [[path, whole]];
    for (const [part, value] of parts) {
      const { source, place } = loaded.provenance[part] ?? { source: 'default' as const };
      const shown = redactor.value({ [part.split('.').at(-1) ?? part]: value });
      values.push({
        path: part,
        value: Object.values(shown as object)[0],
        source,
        meaning,
        ...(unit === undefined ? {} : { unit }),
        ...(place === undefined ? {} : { place }),
      });
    }
  }
  return { ok: true, home, files: loaded.files, values, warnings: loaded.warnings };
}

function at(tree: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined), tree);
}
