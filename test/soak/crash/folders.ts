import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Outcome, ProcessIdentity } from '../../../src/execution/types.ts';

/** An execution as its folder shows it. */
export interface Found {
  readonly exec_id: string;
  readonly job_id: string | undefined;
  readonly token: string;
  readonly created_at: number;
  /** What was written down before the gate was opened. */
  readonly identity: { readonly at: number; readonly marker: string; readonly supervisor: ProcessIdentity } | undefined;
  readonly outcome: Outcome | undefined;
  readonly total_bytes: number;
}

/** The files are read as the format they are, without the code that is being tested. */
interface SpecFile {
  readonly exec_id: string;
  readonly created_at: number;
  readonly spec: { readonly command: string };
}
interface ResultFile {
  readonly result: { readonly outcome: Outcome; readonly output: { readonly combined: { readonly total_bytes: number } } };
}

/**
 * Remembers every execution that was ever seen: folders of answered runs are kept for a while only, so it has to look often enough.
 * What had an end and later has another is told to `changed`.
 */
export function createFolderBook(home: string, changed: (text: string) => void): { look(): void; readonly found: () => readonly Found[] } {
  const book = new Map<string, Found>();
  const look = (): void => {
    for (const parent of ['runs', 'runs/ended', 'jobs']) {
      for (const name of namesIn(join(home, parent))) {
        if (!/^(exec|job)_/.test(name)) continue;
        if (parent === 'runs/ended' && book.get(name)?.outcome !== undefined) continue;
        const found = readFolder(join(home, parent, name), name);
        if (found === undefined) continue;
        const before = book.get(found.exec_id);
        if (before?.outcome !== undefined && JSON.stringify(before.outcome) !== JSON.stringify(found.outcome))
          changed(`${found.exec_id}: ${JSON.stringify(before.outcome)}, later ${JSON.stringify(found.outcome)}`);
        book.set(found.exec_id, found);
      }
    }
  };
  return { look, found: () => [...book.values()] };
}

function readFolder(folder: string, name: string): Found | undefined {
  const spec = readIfThere<SpecFile>(join(folder, 'spec.json'));
  if (spec === undefined) return undefined;
  const token = /^echo "(\S+) /.exec(spec.spec.command)?.[1];
  if (token === undefined) return undefined;
  const result = readIfThere<ResultFile>(join(folder, 'result.json'));
  const identity = readIfThere<NonNullable<Found['identity']>>(join(folder, 'identity.json'));
  // Renamed or removed while it was read: seen at the next look, under its other name.
  if (!existsSync(folder)) return undefined;
  return {
    exec_id: spec.exec_id,
    job_id: name.startsWith('job_') ? name : undefined,
    token,
    created_at: spec.created_at,
    identity,
    outcome: result?.result.outcome,
    total_bytes: result?.result.output.combined.total_bytes ?? 0,
  };
}

function namesIn(folder: string): readonly string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}

function readIfThere<T>(path: string): T | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as T;
  } catch (thrown) {
    // Torn is what a crash leaves of a file that isn't written whole; whether that may be is judged by what depends on it.
    if (thrown instanceof SyntaxError || (thrown instanceof Error && 'code' in thrown && thrown.code === 'ENOENT')) return undefined;
    throw thrown;
  }
}
