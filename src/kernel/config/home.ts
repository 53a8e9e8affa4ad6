import {
  chmodSync,
  closeSync,
  constants as fsc,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import type { ProcessFacts } from './process.ts';

export type EnsuredHome =
  /** Real path, a folder of this uid, 0700. */
  | { readonly ok: true; readonly home: string; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly message: string; readonly fix: string };

/**
 * Makes the Writ home or refuses it. It holds policy, approvals and the audit, so nobody else may be able to write or replace
 * it: what others could write to is refused and not mended, since something may have been planted there already. What others
 * can only read is closed.
 */
export function ensureHome(facts: Pick<ProcessFacts, 'uid' | 'user' | 'writ_home'>): EnsuredHome {
  const { path, from } = facts.writ_home;
  if (path === undefined) {
    return {
      ok: false,
      message: `The user with uid ${facts.uid} has no home folder in the password database, so there is no place for ~/.writ.`,
      fix: 'Set WRIT_HOME to the absolute path of a folder that belongs to this user.',
    };
  }
  if (!isAbsolute(path) || path.includes('\0')) {
    return {
      ok: false,
      message: `WRIT_HOME is ${JSON.stringify(path)}, which is not an absolute path, so it would change with the folder Writ is started in.`,
      fix: 'Set WRIT_HOME to an absolute path; `~` is not expanded.',
    };
  }
  const home = resolve(path);
  if (home === '/' || home === facts.user.home) {
    return { ok: false, message: `The Writ home can't be ${home} itself.`, fix: 'Set WRIT_HOME to a folder of its own.' };
  }
  try {
    return makeAndCheck(home, from, facts.uid);
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    return {
      ok: false,
      message: `The Writ home ${home} can't be made or opened: ${reason}.`,
      fix: 'Give this user write access there, or set WRIT_HOME to a folder it can make.',
    };
  }
}

function makeAndCheck(home: string, from: ProcessFacts['writ_home']['from'], uid: number): EnsuredHome {
  const warnings: string[] = [];
  let seen = lstatSync(home, { throwIfNoEntry: false });
  if (seen === undefined) {
    // A home folder that doesn't exist ("/nonexistent" of service users) is not made up; a WRIT_HOME that was asked for is.
    mkdirIfMissing(home, from === 'WRIT_HOME');
    seen = lstatSync(home);
  }
  if (seen.isSymbolicLink()) {
    const target = resolve(dirname(home), readlinkSync(home));
    return {
      ok: false,
      message: `The Writ home ${home} is a symbolic link to ${target}; whoever can change the link could swap policy and records.`,
      fix: `Remove the link and set WRIT_HOME=${target}, or move the folder back.`,
    };
  }
  if (!seen.isDirectory()) {
    return { ok: false, message: `${home} exists and is not a folder.`, fix: `Move it away, or set WRIT_HOME elsewhere.` };
  }
  // From here on through one descriptor, so that what was checked is what is used.
  const fd = openSync(home, fsc.O_RDONLY | fsc.O_DIRECTORY | fsc.O_NOFOLLOW);
  try {
    const stat = fstatSync(fd);
    if (uid >= 0 && stat.uid !== uid) {
      return {
        ok: false,
        message: `The Writ home ${home} belongs to uid ${stat.uid} and Writ runs as uid ${uid}.`,
        fix: `Run Writ as that user, or set WRIT_HOME to a folder of uid ${uid}.`,
      };
    }
    if ((stat.mode & 0o022) !== 0) {
      return {
        ok: false,
        message: `The Writ home ${home} can be written by other users (mode ${octal(stat.mode)}), so its policy and records can't be trusted.`,
        fix: `Look through it, then: chmod 700 ${shellWord(home)}`,
      };
    }
    if ((stat.mode & 0o777) !== 0o700) {
      chmodSync(home, 0o700);
      warnings.push(`The Writ home ${home} had mode ${octal(stat.mode)}; it is now 0700.`);
    }
    const real = realpathSync(home);
    const open = replaceableAncestor(real, uid);
    if (open !== undefined) return open;
    return { ok: true, home: real, warnings };
  } finally {
    closeSync(fd);
  }
}

function mkdirIfMissing(home: string, parents: boolean): void {
  try {
    mkdirSync(home, { mode: 0o700, recursive: parents });
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown;
  }
}

/** A folder above that everybody may write (and isn't sticky like /tmp) lets anybody rename the home away and put their own there. */
function replaceableAncestor(real: string, uid: number): EnsuredHome | undefined {
  for (let path = dirname(real); ; path = dirname(path)) {
    const { mode, uid: owner } = statSync(path);
    if ((mode & 0o002) !== 0 && (mode & 0o1000) === 0) {
      return {
        ok: false,
        message: `${path}, which holds the Writ home, can be written by everybody (mode ${octal(mode)}, owner ${owner}), so uid ${uid}'s records could be swapped.`,
        fix: `chmod o-w ${shellWord(path)}, or set WRIT_HOME elsewhere.`,
      };
    }
    if (path === '/') return undefined;
  }
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

/** A path as one word of a shell line that a person pastes. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
