import { readdirSync, readFileSync } from 'node:fs';
import { actsFor, askedByProcess, type ReadProcess, readProc } from './ancestry.ts';

/** More processes than this are not looked through; then nothing is taken for sure. */
const MOST = 100_000;

/** How a server is known: by its words and by the Writ home that it was told to use; `null`: what it was told can't be read. */
export type IsServer = (argv: readonly string[], home: string | undefined | null) => boolean;

/**
 * Whether this process hangs under a host that has a server of its own for an agent, where there is no question to compare with. True as
 * well where that can't be found out.
 */
export function actsForSomeAgent(pid: number, isServer: IsServer, read: ReadProcess = readProc): boolean {
  let names: readonly string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return true;
  }
  if (names.length > MOST) return true;
  return names.some((name) => {
    const facts = read(Number(name));
    if (facts === undefined || facts.pid === pid || !isServer(facts.argv, homeOf(facts.pid))) return false;
    const asked = askedByProcess(facts.pid, read);
    return asked !== undefined && actsFor(pid, asked, read) !== false;
  });
}

function homeOf(pid: number): string | undefined | null {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((each) => each.startsWith('WRIT_HOME='))?.slice('WRIT_HOME='.length);
  } catch {
    return null;
  }
}
