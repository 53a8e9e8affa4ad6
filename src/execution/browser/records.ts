import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { judge } from '../running/identity.ts';
import { sweepMarked } from '../running/sweep.ts';
import type { ProcessIdentity } from '../types.ts';

const record = z.object({
  marker: z.string().min(16),
  supervisor: z.object({ boot_id: z.string(), pid: z.int(), start: z.string() }),
});

/** Written before the sandbox is started, so that whoever comes next can find what a supervisor that was killed has left. */
export interface BrowserRecord {
  readonly marker: string;
  readonly supervisor: ProcessIdentity;
}

export function writeBrowserRecord(folder: string, record: BrowserRecord): { remove(): void } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, `${record.marker}.json`);
  writeFileSync(path, `${JSON.stringify(record)}\n`, { flag: 'wx', mode: 0o600 });
  return { remove: () => rmSync(path, { force: true }) };
}

/** Ends the browsers of supervisors that are gone. How many processes were found. */
export async function sweepBrowsers(folder: string): Promise<number> {
  let found = 0;
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    const left = readRecord(path);
    if (left !== undefined) {
      const verdict = judge(left.supervisor);
      if (verdict !== 'GONE' && verdict !== 'FOREIGN') continue;
      const swept = await sweepMarked(new Set([left.marker]));
      found += swept.found;
      if (swept.survivors.length > 0) continue;
    }
    rmSync(path, { force: true });
  }
  return found;
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch {
    return [];
  }
}

/** Undefined: torn, and so of a browser that was never started. */
function readRecord(path: string): BrowserRecord | undefined {
  try {
    return record.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return undefined;
  }
}
