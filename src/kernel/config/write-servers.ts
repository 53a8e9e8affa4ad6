import { closeSync, fsyncSync, mkdirSync, openSync, readdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AppError, errnoOf, toAppError } from '../errors.ts';
import { withFileLock } from '../file-lock.ts';
import { editServers, type ServerChange } from './edit-servers.ts';
import { OPERATOR_FILE } from './load.ts';
import { type FileText, readConfigFile } from './read-file.ts';

const BACKUPS = 'config-backups';
/** The oldest go. */
const MOST_BACKUPS = 20;
/** As often as a person may save in between. */
const MOST_TRIES = 10;

export interface WrittenServers {
  readonly file: string;
  /** The file as it was; absent where there was none. */
  readonly backup?: string;
}

/**
 * Changes servers of the operator's file: whole or not at all, one process at a time, with the file as it was beside it. `changes` is asked
 * under the lock, so that what it looked at is what is changed. AppError config_invalid, store_unavailable, disk_full, busy.
 */
export async function writeServers(
  { home, uid, now }: { readonly home: string; readonly uid: number; readonly now: number },
  changes: () => readonly ServerChange[],
): Promise<WrittenServers> {
  const named = join(home, OPERATOR_FILE);
  const read = (): Exclude<FileText, { state: 'refused' }> => {
    const found = readConfigFile(named, { operator_uid: uid });
    if (found.state === 'refused') throw new AppError('config_invalid', `${named} ${found.message}.`, { fix: found.fix });
    return found;
  };
  return withFileLock(join(home, 'config.lock'), async () => {
    for (let time = 0; time < MOST_TRIES; time++) {
      const found = read();
      const before = found.state === 'text' ? found.text : '';
      const after = editServers(named, before, changes());
      if (after === before) return { file: named };
      // Some keep it among their dot files, with a link here.
      const file = found.state === 'text' ? realpathSync(named) : named;
      const mode = found.state === 'text' ? statSync(file).mode & 0o777 : 0o600;
      // Writing takes a while, and an editor knows nothing of the lock: what a person saves meanwhile is theirs, and is edited in turn.
      const isStill = (): boolean => {
        const again = read();
        return again.state === found.state && (again.state !== 'text' || again.text === before);
      };
      try {
        const backup = found.state === 'text' ? keep(home, before, now) : undefined;
        if (place(file, after, mode, isStill)) return { file: named, ...(backup === undefined ? {} : { backup }) };
      } catch (thrown) {
        throw toAppError(thrown);
      }
    }
    throw new AppError('busy', `Somebody else kept changing ${named}; nothing was written.`, { fix: 'Try again.' });
  });
}

function keep(home: string, text: string, now: number): string {
  const folder = join(home, BACKUPS);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const old = readdirSync(folder)
    .filter((name) => /^config-[\dT.Z-]+\.json$/.test(name))
    .sort();
  for (const name of old.slice(0, Math.max(0, old.length - MOST_BACKUPS + 1))) rmSync(join(folder, name), { force: true });
  const stamp = new Date(now).toISOString().replaceAll(':', '-');
  for (let time = 0; ; time++) {
    const backup = join(folder, `config-${stamp}${time === 0 ? '' : `-${time}`}.json`);
    try {
      writeFileSync(backup, text, { mode: 0o600, flag: 'wx', flush: true });
      return backup;
    } catch (thrown) {
      if (errnoOf(thrown) !== 'EEXIST' || time > 100) throw thrown;
    }
  }
}

/** False: the file isn't what it was any more. Under the lock, so the temporary name can be a fixed one: what a killed process left there is replaced. */
function place(file: string, text: string, mode: number, isStill: () => boolean): boolean {
  const next = `${file}.next`;
  rmSync(next, { force: true });
  try {
    writeFileSync(next, text, { mode, flag: 'wx', flush: true });
    if (!isStill()) {
      rmSync(next, { force: true });
      return false;
    }
    renameSync(next, file);
  } catch (thrown) {
    rmSync(next, { force: true });
    throw thrown;
  }
  const folder = openSync(dirname(file), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
  return true;
}
