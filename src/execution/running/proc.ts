import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { errnoOf } from '../../kernel/errors.ts';

/** What /proc says, or why it can't be known. `gone`: there is no such process; `hidden`: there may be one. */
export type ProcStat = { readonly start: string; readonly state: string; readonly ppid: number } | 'gone' | 'hidden';

/** State and start time of a process. The name may hold spaces and brackets, so fields are counted from the last `)`. */
export function readStat(pid: number): ProcStat {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch (error) {
    const code = errnoOf(error);
    if (code === 'ESRCH') return 'gone';
    // With hidepid the folder of a living process is absent too: the kernel is asked a second way before "gone" is said.
    return code === 'ENOENT' && !exists(pid) ? 'gone' : 'hidden';
  }
  return parseStat(text) ?? 'hidden';
}

export function parseStat(text: string): { start: string; state: string; ppid: number } | undefined {
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const [state, ppid] = fields;
  const start = fields[19];
  if (state === undefined || ppid === undefined || start === undefined || !/^\d+$/.test(start)) return undefined;
  return { start, state, ppid: Number(ppid) };
}

/** A zombie waiting for a parent that doesn't reap is dead. */
export function isDead(state: string): boolean {
  return state === 'Z' || state === 'X' || state === 'x';
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) !== 'ESRCH';
  }
}

/** The inode of a process's PID namespace as `pid:[4026531836]`; undefined when the process is gone or hidden. */
export function pidNamespaceOf(pid: number | 'self'): string | undefined {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    // Gone, or of somebody else: either way not provably a member.
    return undefined;
  }
}

/** All PIDs there are; undefined when /proc can't be read, which is not the same as "none". */
export function listPids(): number[] | undefined {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return undefined;
  }
}

/** Living processes in that PID namespace, as the host numbers them. */
export function membersOf(namespace: string): number[] | undefined {
  return listPids()?.filter((pid) => {
    if (pidNamespaceOf(pid) !== namespace) return false;
    const stat = readStat(pid);
    return typeof stat === 'object' && !isDead(stat.state);
  });
}
