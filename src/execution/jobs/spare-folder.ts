import { randomBytes } from 'node:crypto';
import { renameSync, rmSync, utimesSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errnoOf } from '../../kernel/errors.ts';
import { makeBlanks } from '../running/hidden-file.ts';
import { FILES } from './records.ts';

/** A folder with its blanks, made before it is needed (hidden-file.ts says why). */
export interface SpareFolder {
  /** It becomes `path`. False: there is none, and whoever needs one makes it. */
  take(path: string): boolean;
  /** Never rejects: whoever then has to make one hears what is wrong. */
  prepare(): Promise<void>;
  close(): Promise<void>;
}

/** What each run has, most often. */
const BLANKS = [FILES.spec, FILES.owner, FILES.identity, FILES.result];

export function createSpareFolder(parent: string): SpareFolder {
  let ready: string | undefined;
  let making: Promise<void> | undefined;
  let closed = false;

  const make = async (): Promise<void> => {
    const path = join(parent, randomBytes(8).toString('hex'));
    try {
      await mkdir(path, { mode: 0o700 });
      await makeBlanks(path, BLANKS);
      ready = path;
    } catch (thrown) {
      if (errnoOf(thrown) === undefined) throw thrown;
    } finally {
      making = undefined;
    }
  };

  return {
    take(path) {
      const own = ready;
      if (own === undefined) return false;
      ready = undefined;
      try {
        // What is old is taken for something that a dead process left.
        const now = new Date();
        utimesSync(own, now, now);
        renameSync(own, path);
        return true;
      } catch (thrown) {
        if (errnoOf(thrown) === undefined) throw thrown;
        return false;
      }
    },
    async prepare() {
      if (ready !== undefined || closed) return;
      making ??= make();
      await making;
    },
    async close() {
      closed = true;
      await making;
      if (ready !== undefined) rmSync(ready, { recursive: true, force: true });
      ready = undefined;
    },
  };
}
