import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';

/**
 * Who listens on a TCP port of this machine, for an error message: "node (pid 123)". Undefined where /proc doesn't tell, which is
 * usual for processes of other users.
 */
export function portOwner(port: number): string | undefined {
  const inodes = new Set([...listening('/proc/net/tcp', port), ...listening('/proc/net/tcp6', port)].map((inode) => `socket:[${inode}]`));
  if (inodes.size === 0) return undefined;
  for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
    if (list(`/proc/${pid}/fd`).some((fd) => inodes.has(link(`/proc/${pid}/fd/${fd}`)))) {
      return `${nameOf(pid)} (pid ${pid})`;
    }
  }
  return 'a process of another user';
}

/** Its program and not its thread, since Node calls its own MainThread. */
function nameOf(pid: string): string {
  const [program = ''] = text(`/proc/${pid}/cmdline`).split('\0');
  return basename(program) || text(`/proc/${pid}/comm`).trim() || 'a process';
}

/** Inodes of sockets in state LISTEN (0A) on this port, whatever their address. */
function listening(table: string, port: number): readonly string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return text(table)
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => local?.endsWith(suffix) && state === '0A')
    .flatMap((fields) => fields[9] ?? []);
}

function text(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

function link(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}
