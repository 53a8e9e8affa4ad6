import { readdirSync } from 'node:fs';
import { actsFor, askedByProcess, type ReadProcess, readProc } from './ancestry.ts';

/** More processes than this are not looked through; then nothing is taken for sure. */
const MOST = 100_000;

/**
 * Whether this process hangs under a host that has a server of its own for an agent, where there is no question to compare with. True as
 * well where that can't be found out.
 */
export function actsForSomeAgent(pid: number, isServer: (argv: readonly string[]) => boolean, read: ReadProcess = readProc): boolean {
  let names: readonly string[];
  try {
    names = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return true;
  }
  if (names.length > MOST) return true;
  return names.some((name) => {
    const facts = read(Number(name));
    if (facts === undefined || facts.pid === pid || !isServer(facts.argv)) return false;
    const asked = askedByProcess(facts.pid, read);
    return asked !== undefined && actsFor(pid, asked, read) !== false;
  });
}
