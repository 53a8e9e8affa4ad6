import { type Path, quoted, shown } from './parse.ts';
import { SETTINGS } from './settings.ts';
import { EFFECT_WORDS } from './types.ts';

const RULE_KEYS = ['argv', 'reason', 'match', 'not_match'];

interface Known {
  readonly name: string;
  readonly security: boolean;
}

export type KeyVerdict = { readonly severity: 'error' | 'warning'; readonly message: string; readonly fix: string };

/**
 * What an unknown key means. One that is nearly a security key, or is one in the wrong place, is an error: taken as "unknown,
 * ignored" it would leave open what its author thinks is closed. In `dangerous` that holds for every unknown key.
 */
export function judgeUnknownKey(parent: Path, name: string): KeyVerdict {
  const where = parent.length === 0 ? 'at the top' : `in ${shown(parent)}`;
  const known = knownAt(parent);
  if (parent.join('.') === 'dangerous.classes' && name === 'blocked') {
    return { severity: 'error', message: 'sets dangerous.classes.blocked, which nothing can change', fix: 'Remove it.' };
  }
  const near = nearest(name, known);
  if (near?.security) {
    return {
      severity: 'error',
      message: `has the unknown key ${quoted(name)} ${where}, which looks like "${near.name}"`,
      fix: `Write "${near.name}", or remove it.`,
    };
  }
  const elsewhere = Object.entries(SETTINGS).find(
    ([path, { security }]) => security && plain(path.split('.').at(-1) ?? '') === plain(name),
  );
  if (elsewhere !== undefined) {
    return {
      severity: 'error',
      message: `has the key ${quoted(name)} ${where}, where it means nothing`,
      fix: `It belongs at ${elsewhere[0]}.`,
    };
  }
  if (parent[0] === 'dangerous') {
    const names = known.map((one) => one.name).join(', ');
    return { severity: 'error', message: `has the unknown key ${quoted(name)} ${where}`, fix: `Known there: ${names}.` };
  }
  return {
    severity: 'warning',
    message: `has the unknown key ${quoted(name)} ${where}; it is ignored`,
    fix: near === undefined ? 'Remove it.' : `Did you mean "${near.name}"?`,
  };
}

function knownAt(parent: Path): readonly Known[] {
  if (parent[0] === 'dangerous' && parent.length > 2) return RULE_KEYS.map((name) => ({ name, security: true }));
  if (parent.join('.') === 'dangerous.classes') return EFFECT_WORDS.map((name) => ({ name, security: true }));
  const found = new Map<string, boolean>();
  const prefix = parent.length === 0 ? '' : `${parent.join('.')}.`;
  for (const [path, { security }] of Object.entries(SETTINGS)) {
    if (!path.startsWith(prefix)) continue;
    const [name] = path.slice(prefix.length).split('.');
    if (name !== undefined) found.set(name, (found.get(name) ?? false) || security);
  }
  if (parent.length === 0) found.set('mcpServers', true);
  return [...found].map(([name, security]) => ({ name, security }));
}

/** The closest known key, security keys first, within two edits (one for short names) or equal but for case and separators. */
export function nearest(name: string, known: readonly Known[]): Known | undefined {
  if (name.length > 64) return undefined;
  const ranked = known
    .map((one) => ({ one, distance: plain(one.name) === plain(name) ? 0 : edits(plain(name), plain(one.name)) }))
    .filter(({ one, distance }) => distance <= (one.name.length <= 4 ? 1 : one.name.length <= 10 ? 2 : 3))
    .sort((a, b) => Number(b.one.security) - Number(a.one.security) || a.distance - b.distance);
  return ranked[0]?.one;
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[-_\s]/g, '');
}

/** Insertions, deletions, replacements and swaps of neighbours between two short words. */
function edits(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) best = Math.min(best, (before[j - 2] ?? 0) + 1);
      row.push(best);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}
