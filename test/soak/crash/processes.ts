import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import type { Victim } from './plan.ts';

/** What of one Writ home is alive, as /proc tells it: nothing that Writ says about itself is used. */

interface Seen {
  readonly pid: number;
  readonly argv: string;
  readonly environ: string;
}

export type Role = Exclude<Victim, 'all'>;

/** The processes of Writ itself on this home: `writ mcp` and runners. */
export function writProcesses(home: string): readonly { readonly pid: number; readonly role: Role }[] {
  return everyProcess()
    .filter(({ environ }) => environ.split('\0').includes(`WRIT_HOME=${home}`))
    .flatMap(({ pid, argv }) => {
      const role = roleOf(argv);
      return role === undefined ? [] : [{ pid, role }];
    });
}

function roleOf(argv: string): Role | undefined {
  if (/\0mcp(\0|$)/.test(argv)) return 'mcp';
  return /runner[^\0]*\.[jt]s/.test(argv) ? 'runner' : undefined;
}

/** Everything alive that has to do with this place: Writ, sandboxes at their gate, commands and what they left. Zombies are dead. */
export function aliveIn(base: string, markers: ReadonlySet<string>): readonly string[] {
  return everyProcess().flatMap(({ pid, argv, environ }) => {
    const marker = /(?:^|\0)WRIT_MARKER=([^\0]*)/.exec(environ)?.[1];
    const ours =
      argv.includes(base) || environ.includes(base) || cwdOf(pid).startsWith(base) || (marker !== undefined && markers.has(marker));
    return ours ? [`${pid} ${argv.replaceAll('\0', ' ').slice(0, 120)}${marker === undefined ? '' : ` (${marker})`}`] : [];
  });
}

/** SIGKILL for what the victim names, all of it in one turn; how many that were. */
export function killVictims(home: string, victim: Victim, which: number): number {
  const alive = writProcesses(home).filter(({ role }) => victim === 'all' || role === victim);
  const doomed = victim === 'all' ? alive : alive.slice(which % Math.max(1, alive.length)).slice(0, 1);
  let killed = 0;
  for (const { pid } of doomed) {
    try {
      process.kill(pid, 'SIGKILL');
      killed += 1;
    } catch {
      // It ended in this moment.
    }
  }
  return killed;
}

function everyProcess(): readonly Seen[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return [];
    try {
      const argv = readFileSync(`/proc/${name}/cmdline`, 'latin1');
      return argv === '' ? [] : [{ pid: Number(name), argv, environ: readFileSync(`/proc/${name}/environ`, 'latin1') }];
    } catch {
      return [];
    }
  });
}

function cwdOf(pid: number): string {
  try {
    return readlinkSync(`/proc/${pid}/cwd`);
  } catch {
    return '';
  }
}
