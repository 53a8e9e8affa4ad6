import { createHash } from 'node:crypto';
import type { ProcessIdentity } from '../types.ts';

/** On every container of Writ; the value tells the Writ home. */
export const HOME_LABEL = 'writ.home';

/** Short, and the same for every process of this home. */
export function homeTag(home: string): string {
  return createHash('sha256').update(home).digest('hex').slice(0, 16);
}

/** The name says whose it is: a supervisor that is gone has left it behind. */
export function containerName(supervisor: ProcessIdentity, marker: string): string {
  return `writ-${supervisor.pid}-${supervisor.start}-${marker}`;
}

export function supervisorOf(name: string, boot_id: string): ProcessIdentity | undefined {
  const [, pid, start] = /^writ-(\d+)-(\d+)-/.exec(name) ?? [];
  return pid === undefined || start === undefined ? undefined : { boot_id, pid: Number(pid), start };
}
