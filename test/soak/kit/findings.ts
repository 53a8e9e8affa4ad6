/** What a run found wrong: all of it counted, the first ones of each kind shown. */
export interface Findings {
  add(kind: string, detail: string): void;
  readonly count: number;
  readonly texts: readonly string[];
}

const SHOWN_EACH = 5;
const SHOWN_CHARACTERS = 600;

export function createFindings(): Findings {
  const counts = new Map<string, number>();
  const texts: string[] = [];
  return {
    add(kind, detail) {
      const count = (counts.get(kind) ?? 0) + 1;
      counts.set(kind, count);
      if (count <= SHOWN_EACH) texts.push(`${kind}: ${detail.slice(0, SHOWN_CHARACTERS)}`);
    },
    get count() {
      return [...counts.values()].reduce((sum, each) => sum + each, 0);
    },
    get texts() {
      return [...texts, ...[...counts].filter(([, count]) => count > SHOWN_EACH).map(([kind, count]) => `${kind}: ${count} in all`)];
    },
  };
}

/** Prints them and makes the program fail when there are any. */
export function conclude(findings: Findings): void {
  for (const text of findings.texts) console.log(`WRONG ${text}`);
  console.log(findings.count === 0 ? 'nothing wrong' : `${findings.count} wrong`);
  if (findings.count > 0) process.exitCode = 1;
}
