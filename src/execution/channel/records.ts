import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { errnoOf } from '../../kernel/errors.ts';
import { type ExecId, isId } from '../../kernel/ids.ts';
import { look } from '../containment/look.ts';
import { createJson, readJson } from '../jobs/json-file.ts';
import { isDead, type Processes } from '../jobs/processes.ts';
import { processIdentity } from '../jobs/records.ts';
import type { ProcessIdentity } from '../types.ts';

/**
 * `channels/<exec id>` in the Writ home: made before anything is spawned, gone once the tree was seen gone. `about.json` says who started
 * it, `identity.json` what to end; without the second the marker, which is the id, finds what a process that died at once left behind.
 */
const FOLDER = 'channels';
const ABOUT = 'about.json';
/** A folder without `about.json` is that of a process that died before it spawned anything, once it is as old as this. */
const MOMENT_MS = 60_000;

const about = z.object({ name: z.string(), supervisor: processIdentity, at: z.number() });

export interface ChannelRecord {
  readonly folder: string;
  remove(): void;
}

export function makeRecord(
  home: string,
  exec_id: ExecId,
  { name, supervisor, at }: { readonly name: string; readonly supervisor: ProcessIdentity; readonly at: number },
): ChannelRecord {
  const folder = join(home, FOLDER, exec_id);
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  try {
    createJson(folder, ABOUT, { name, supervisor, at }, { durable: false });
  } catch (thrown) {
    remove();
    throw thrown;
  }
  return { folder, remove };
}

/** Ends what processes that are gone have left; how many processes that were. Safe in several processes at once. */
export async function sweepChannels(home: string, processes: Processes, now: number): Promise<number> {
  const parent = join(home, FOLDER);
  const orphaned = idsIn(parent).filter((id) => {
    const folder = join(parent, id);
    const read = readJson(folder, ABOUT, about);
    if (read.ok) return isDead(processes.judge(read.value.supervisor));
    // What can't be read (a later version's) may belong to somebody alive.
    return read.missing && now - (look(folder)?.mtimeMs ?? now) > MOMENT_MS;
  });
  if (orphaned.length === 0) return 0;
  const found = await processes.sweepMarked(new Set<string>(orphaned));
  for (const id of orphaned) {
    const folder = join(parent, id);
    const teardown = await processes.endRun(folder);
    if (teardown === undefined || teardown.survivors.length === 0) rmSync(folder, { recursive: true, force: true });
  }
  return found;
}

function idsIn(parent: string): readonly ExecId[] {
  try {
    return readdirSync(parent).filter((name) => isId('exec', name));
  } catch (thrown) {
    if (errnoOf(thrown) === 'ENOENT') return [];
    throw thrown;
  }
}
