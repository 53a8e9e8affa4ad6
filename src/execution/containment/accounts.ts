import { readFileSync } from 'node:fs';

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]{0,31}$/;

/** The entries of a passwd file. Accounts from a directory service aren't in it; callers have a second source for the name. */
export function parsePasswd(text: string): readonly Account[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', , uid = '', gid = ''] = line.split(':');
    return NAME.test(name) && /^\d+$/.test(uid) && /^\d+$/.test(gid) ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

export function readAccounts(): readonly Account[] {
  try {
    return parsePasswd(readFileSync('/etc/passwd', 'utf8'));
  } catch {
    // A machine without one has names from elsewhere.
    return [];
  }
}

/** What a run's user is called inside. */
export function userName(uid: number, accounts: readonly Account[], fallback: string | undefined): string {
  const known = accounts.find((account) => account.uid === uid)?.name;
  if (known !== undefined) return known;
  return fallback !== undefined && NAME.test(fallback) && fallback !== 'root' ? fallback : 'user';
}
