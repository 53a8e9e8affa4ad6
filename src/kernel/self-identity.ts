import { readFileSync } from 'node:fs';

/** Which process this is, so that nobody can later take another with the same number for it. */
export interface SelfIdentity {
  readonly pid: number;
  /** Absent where there is no /proc. */
  readonly boot_id?: string;
  /** Clock ticks from boot to the start of the process (field 22 of /proc/self/stat), in decimal. */
  readonly start_time?: string;
}

export function selfIdentity(): SelfIdentity {
  const boot_id = read('/proc/sys/kernel/random/boot_id')?.trim();
  // The name may hold spaces and brackets, so fields are counted from the last one.
  const stat = read('/proc/self/stat');
  const start_time = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  return { pid: process.pid, ...(boot_id === undefined ? {} : { boot_id }), ...(start_time === undefined ? {} : { start_time }) };
}

/** Undefined on systems without /proc, and in a sandbox that hides it: the record is made all the same. */
function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
